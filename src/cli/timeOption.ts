/**
 * --from and --to: the times of the first and the last event are private, so they are asked for. A date alone is the midnight
 * of the zone that begins it: midnight of UTC would cut the first day of any other zone.
 */
import { Calendar, DAY } from "../events/days/calendar.js";
import { parseTime } from "../events/days/duration.js";
import { type Arguments, UsageError } from "./command.js";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Milliseconds since 1970. */
export function timeOf(args: Arguments, option: "from" | "to", zone: string): number {
  const text = args.text(option);
  if (text === undefined) throw new UsageError(missingTime(option));
  return timeIn(new Calendar(zone), option, text);
}

export const missingTime = (option: "from" | "to"): string =>
  `--${option}: missing; expected when the ${option === "from" ? "first period starts" : "last period ends"}, such as 2026-03-01 or 2026-03-01T10:00Z, since the times of events are private`;

/** Milliseconds since 1970 of ISO text, of a date of the zone, or of a number. */
export function timeIn(calendar: Calendar, option: string, text: string): number {
  const time = parseTime(option, /^\d+$/.test(text) ? Number(text) : text);
  return DATE.test(text) ? calendar.startOf(time / DAY) : time;
}
