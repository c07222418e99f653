/** Streams that tests make for themselves: same name, same numbers. */
import seedrandom from "seedrandom";

/** Log-normal integers: a median near max/40 and a long tail, some of it above max. */
export function longTailedStream(length: number, max: number, seed: string): Float64Array {
  const next = gaussian(seed);
  return Float64Array.from({ length }, () => Math.round((max / 40) * Math.exp(0.9 * next())));
}

/** Counts per second over days of 8192 values: a wave between max/40 and max/15, with bursts. */
export function diurnalStream(length: number, max: number, seed: string): Float64Array {
  const next = gaussian(seed);
  return Float64Array.from({ length }, (_, i) => {
    const rate = (max / 40) * (1.8 + 0.8 * Math.sin((2 * Math.PI * i) / 8192));
    const burst = next() > 3 ? 4 : 1;
    return Math.max(0, Math.round(burst * (rate + Math.sqrt(rate) * next())));
  });
}

/** A mean that climbs from max/50 to max/5 over the whole stream. */
export function driftingStream(length: number, max: number, seed: string): Float64Array {
  const next = gaussian(seed);
  return Float64Array.from({ length }, (_, i) => {
    const mean = max * (0.02 + (0.18 * i) / length);
    return Math.max(0, Math.round(mean * (1 + 0.2 * next())));
  });
}

/** Box–Muller on seedrandom: good enough for data, never for noise. */
function gaussian(seed: string): () => number {
  const uniform = seedrandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
