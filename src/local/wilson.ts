/**
 * Wilson's bounds with continuity correction: the share behind K of n reports is at most `wilsonUpper(K)`, at least
 * `wilsonLower(K)`. Both together are wrong about as often as a normal value lies beyond ±z, from the first report on: at 95 % in at
 * most 5.4 % of draws of one report and 5.1 % of more, whatever the share (test/local/wilson.test.ts).
 */
export function wilsonUpper(count: number, reports: number, z: number): number {
  if (count >= reports) return 1;
  const p = count / reports;
  const square = z * z + 2 - 1 / reports + 4 * p * (reports * (1 - p) - 1);
  const reach = 1 + z * Math.sqrt(Math.max(0, square));
  return Math.min(1, (2 * count + z * z + reach) / (2 * (reports + z * z)));
}

export const wilsonLower = (count: number, reports: number, z: number): number =>
  1 - wilsonUpper(reports - count, reports, z);
