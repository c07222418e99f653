/** Durations as text, in the config and in questions. */
import { DAY, parseDuration } from "brume/node";

const DURATION = /^(\d{1,13})(ms|s|m|h|d)$/;

/** Milliseconds; undefined if the text is no duration. */
export function durationOf(text: string): number | undefined {
  const [, digits, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * parseDuration("duration", `1${unit}`);
}

/** Milliseconds of a duration of the config, whose form the schema has checked; Infinity if it has too many digits. */
export const milliseconds = (text: string): number => durationOf(text) ?? Infinity;

/** Spans of the calendar, as long as their shortest. */
export const SPANS = { "1d": DAY, "1w": 7 * DAY, "1mo": 28 * DAY } as const;
