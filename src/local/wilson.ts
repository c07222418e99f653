/**
 * Wilson's bounds with continuity correction: the share behind K of n reports is at most `wilsonUpper(K)`, at least
 * `wilsonLower(K)`, each wrong with the probability of one tail beyond z. They hold from the first report on.
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
