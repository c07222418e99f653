/** The built-in example: queries per second at a name server over twelve days, made up but lifelike. */
import seedrandom from "seedrandom";

const DAY = 86_400;

/** A daily wave of 10 to 30 a second with random bursts; the same numbers every time. */
export function exampleStream(length: number): Float64Array {
  const uniform = seedrandom("queries per second");
  return Float64Array.from({ length }, (_, second) => {
    const rate = 20 - 10 * Math.cos((2 * Math.PI * second) / DAY);
    const burst = uniform() < 0.002 ? 1 + 8 * uniform() : 1;
    const spread = uniform() + uniform() + uniform() + uniform() - 2; // mean 0, variance 1/3
    return Math.max(0, Math.round(rate * burst + Math.sqrt(3 * rate) * spread));
  });
}
