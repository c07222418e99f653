/**
 * Durations and times as people write them: "5m", a Date, ISO text, milliseconds. Parameters are public and errors
 * quote them. The time of an event is private: `eventTime` says nothing about it.
 */

/** "250ms", "1s", "5m", "1h", "1d", or a whole number of milliseconds. A day is 24 hours. */
export type Duration = string | number;

/** A Date, ISO text with a time zone ("2026-03-01T10:00Z", or "2026-03-01" for midnight UTC), or milliseconds since 1970. */
export type Time = Date | string | number;

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
/** A hundred years: longer ones are mistakes. */
const LONGEST = 36_525 * UNITS.d;
/** Largest time that a Date can hold, in milliseconds. */
export const FARTHEST = 8.64e15;

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/** Milliseconds, a whole number from `least` on. */
export function parseDuration(name: string, value: unknown, least = 1): number {
  const expected = `${name}: expected a duration such as "1s", "5m", "1h", "1d" or milliseconds`;
  if (typeof value !== "string" && typeof value !== "number")
    throw new TypeError(`${expected}, got a value of type ${value === null ? "null" : typeof value}`);
  const parts = typeof value === "string" ? DURATION.exec(value) : null;
  if (typeof value === "string" && parts === null)
    throw new TypeError(`${expected}, got ${JSON.stringify(value.slice(0, 40))}`);
  const length = parts === null ? Number(value) : Number(parts[1]) * UNITS[parts[2] as keyof typeof UNITS];
  if (!Number.isInteger(length) || length < least || length > LONGEST)
    throw new RangeError(
      `${name}: expected a whole number of milliseconds from ${least} to ${LONGEST}, got ${length}`,
    );
  return length;
}

/** "90s", "5m", "1d": the largest unit that leaves a whole number. */
export function durationText(length: number): string {
  if (length === 0) return "0s";
  for (const [unit, size] of Object.entries(UNITS)) if (length % size === 0) return `${length / size}${unit}`;
  return `${length}ms`;
}

/** "day", "hour" or "6h": how a sentence with "per" ends. */
export function periodText(length: number): string {
  const words: Record<string, string> = { "1d": "day", "1h": "hour", "1m": "minute", "1s": "second" };
  const text = durationText(length);
  return words[text] ?? text;
}

/** Milliseconds since 1970 of a time that a caller asks about. */
export function parseTime(name: string, value: unknown): number {
  const time = timeOf(value);
  if (time !== undefined) return time;
  const got =
    typeof value === "string"
      ? JSON.stringify(value.slice(0, 40))
      : typeof value === "number"
        ? String(value)
        : `a value of type ${value === null ? "null" : typeof value}`;
  throw new TypeError(
    `${name}: expected a Date, ISO text with a time zone such as "2026-03-01T10:00Z", or milliseconds, got ${got}`,
  );
}

/** Milliseconds since 1970 of the time of an event, which is private: no error quotes it. */
export const eventTime = (value: unknown): number =>
  typeof value === "number" && Math.abs(value) <= FARTHEST ? value : otherTime(value);

function otherTime(value: unknown): number {
  const time = timeOf(value);
  if (time === undefined)
    throw new TypeError(
      "at: expected a Date, ISO text with a time zone, or milliseconds; the event was not taken",
    );
  return time;
}

function timeOf(value: unknown): number | undefined {
  const time =
    value instanceof Date
      ? value.getTime()
      : typeof value === "number"
        ? value
        : typeof value === "string" && ISO_TIME.test(value)
          ? Date.parse(value)
          : NaN;
  return Math.abs(time) <= FARTHEST ? time : undefined;
}

/** "2026-03-01T10:00:00.000Z". */
export const timeText = (time: number): string => new Date(time).toISOString();
