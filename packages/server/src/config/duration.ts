/** Durations of the config: the schema has checked their form. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds. */
export function milliseconds(text: string): number {
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text)!;
  return Number(digits) * UNITS[unit!]!;
}
