/** The four data sets of the paper by name, with what its Table 1 says about them. */

/** A row of Table 1; percentiles in units of the stream. */
export interface Characteristics {
  readonly n: number;
  /** B, the public bound. */
  readonly max: number;
  readonly p85: number;
  readonly p95: number;
  readonly p995: number;
  readonly p100: number;
  readonly mean: number;
}

export const TABLE1 = {
  DNS: { n: 1141961, max: 2000, p85: 63, p95: 85, p995: 135, p100: 617, mean: 37.9 },
  Fare: { n: 8704495, max: 30000, p85: 440, p95: 1036, p995: 2037, p100: 26770, mean: 279.9 },
  Kosarak: { n: 990002, max: 41270, p85: 10, p95: 28, p995: 133, p100: 2498, mean: 8.1 },
  POS: { n: 515597, max: 1657, p85: 13, p95: 21, p995: 39, p100: 165, mean: 7.5 },
} as const satisfies Record<string, Characteristics>;

export type DatasetName = keyof typeof TABLE1;
export const DATASET_NAMES = Object.keys(TABLE1) as DatasetName[];

/** The unit of a value. */
export const UNITS: Readonly<Record<DatasetName, string>> = {
  DNS: "queries",
  Fare: "cents",
  Kosarak: "clicks",
  POS: "items",
};

/** A row of the table for any stream of whole numbers from 0 to max: the p-percentile is the value of rank ⌈p·n⌉. */
export function characteristics(values: Float64Array, max: number): Characteristics {
  const n = values.length;
  const counts = new Uint32Array(max + 1);
  let sum = 0;
  for (const value of values) {
    counts[value]!++;
    sum += value;
  }
  const percentile = (p: number) => {
    let value = 0;
    for (let below = counts[0]!; below < Math.ceil(p * n); below += counts[++value]!);
    return value;
  };
  const [p85, p95, p995, p100] = [0.85, 0.95, 0.995, 1].map(percentile) as [number, number, number, number];
  return { n, max, p85, p95, p995, p100, mean: sum / n };
}
