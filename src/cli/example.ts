/** The built-in stream: DNS queries per second at a small resolver, over twelve days. The same for the same seed. */
import seedrandom from "seedrandom";

const DAY = 86_400; // seconds, and one value per second

/** The stream begins at six in the morning, so that the busy hours fall into the part of the hold-out that chooses θ. */
const START = DAY / 4;

export const EXAMPLE = {
  /** The default hold-out and one forest after it. */
  length: 2 ** 16 + 2 ** 20,
  /** Far above what usually comes, as a careful operator would set it. */
  max: 1000,
} as const;

/** Day and night, a quieter weekend, a wandering level, bursts of minutes, and single seconds far above. */
export function exampleStream(seed: string, length: number = EXAMPLE.length): Float64Array {
  const random = seedrandom(`example ${seed}`);
  const uniform = () => random.int32() / 2 ** 32 + 0.5;
  /** Irwin–Hall with four terms: bell-shaped, mean 0, variance 1. */
  const bell = () => (uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3);
  const values = new Float64Array(length);
  let level = 0;
  let burst = 1;
  for (let second = 0; second < length; second++) {
    if (second % 60 === 0) {
      level = 0.985 * level + 0.012 * bell();
      burst = burst > 1.05 ? 1 + 0.7 * (burst - 1) : uniform() < 0.0008 ? 1.2 + 0.6 * uniform() : 1;
    }
    const rate = usualRate(START + second) * (1 + level) * burst;
    const spike = uniform() < 0.0002 ? 700 * uniform() : 0;
    values[second] = Math.min(EXAMPLE.max, Math.max(0, Math.round(rate + Math.sqrt(rate) * bell() + spike)));
  }
  return values;
}

/** Queries per second at this time of the week: lowest after midnight, a first peak before noon, the highest at five. */
function usualRate(second: number): number {
  const turn = 2 * Math.PI * ((second / DAY) % 1);
  const weekend = Math.floor(second / DAY) % 7 >= 5 ? 0.72 : 1;
  const byDay = 0.5 - 0.42 * Math.cos(turn - 1.05) - 0.14 * Math.cos(2 * turn - 0.6);
  return 30 + 190 * weekend * Math.max(0, byDay);
}
