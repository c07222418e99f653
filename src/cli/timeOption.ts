/** --from and --to: the times of the first and the last event are private, so they are asked for. */
import { parseTime } from "../events/days/duration.js";
import { type Arguments, UsageError } from "./command.js";

/** Milliseconds since 1970. */
export function timeOf(args: Arguments, option: "from" | "to"): number {
  const text = args.text(option);
  if (text === undefined)
    throw new UsageError(
      `--${option}: missing; expected when the ${option === "from" ? "first period starts" : "last period ends"}, such as 2026-03-01T00:00Z, since the times of events are private`,
    );
  return parseTime(option, /^\d+$/.test(text) ? Number(text) : text);
}
