/** Durations as text, in the config and in questions. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
export const DAY = UNITS["d"]!;

const DURATION = /^(\d{1,13})(ms|s|m|h|d)$/;

/** Milliseconds; undefined if the text is no duration. */
export function durationOf(text: string): number | undefined {
  const [, digits, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * UNITS[unit]!;
}

/** Milliseconds of a duration of the config, whose form the schema has checked; Infinity if it has too many digits. */
export const milliseconds = (text: string): number => durationOf(text) ?? Infinity;

/** "1h" for 3,600,000. */
export function durationText(length: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, size]) => length % size === 0)!;
  return `${length / size}${unit}`;
}
