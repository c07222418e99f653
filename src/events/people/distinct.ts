/**
 * Distinct people: how many different people there were in a day, a week or a month. Such a period takes the place that a
 * day has in other metrics: limits of people and noise end with it, and it is one leaf.
 */
import { checkChoice, checkInteger } from "../../core/checks.js";
import { Calendar } from "../days/calendar.js";
import type { EventOptions } from "../options.js";

/** A day, a week (from Monday) or a month of the zone. */
export type Over = "1d" | "1w" | "1mo";

/** Options of a counter of different people. */
export interface PeopleOptions extends Omit<EventOptions, "every" | "levels" | "perPerson"> {
  /** Counts distinct people instead of events. */
  readonly of: "people";
  /** The period in which a person counts once: a day, a week (from Monday) or a month of the zone. One number for each. */
  readonly over: Over;
  /**
   * c, in hubs with several keys: a person counts once under each of the first c keys that their events of a period have.
   * The noise grows with it. Public.
   */
  readonly keysPerPerson?: number;
  /** A public guess of how many people a period has. Snapshots have room for so many; more make them longer. Default 1024. */
  readonly people?: number;
}

/** Which people are counted once. */
export interface Distinct {
  readonly over: Over;
  /** c, or undefined if a person has one key. */
  readonly keys: number | undefined;
  /** People that snapshots have room for. */
  readonly room: number;
}

export const PEOPLE_OPTIONS: readonly string[] = [
  ...[
    "of",
    "over",
    "keysPerPerson",
    "people",
    "epsilon",
    "zone",
    "history",
    "lateness",
    "skew",
    "clock",
    "days",
  ],
  ...["name", "core", "unsafeSeed"],
];

const MOST_KEYS = 65_535;
const MOST_PEOPLE = 2 ** 24;

export function resolveDistinct(options: PeopleOptions): Distinct {
  for (const [name, words] of Object.entries(REFUSED))
    if (Object.hasOwn(options, name))
      throw new TypeError(`${name}: expected none where people are counted; ${words}`);
  const over = checkChoice("over", options.over, ["1d", "1w", "1mo"]);
  const { keysPerPerson: keys } = options;
  return {
    over,
    keys: keys === undefined ? undefined : checkInteger("keysPerPerson", keys, 1, MOST_KEYS),
    room: checkInteger("people", options.people ?? 1024, 1, MOST_PEOPLE),
  };
}

const REFUSED: Readonly<Record<string, string>> = {
  every: 'over says how often there is a number: "1d", "1w" or "1mo"',
  levels: "there is one number for each period",
  perPerson: "a person counts once; keysPerPerson says under how many keys",
};

const SPANS = { "1w": "week", "1mo": "month" } as const;

/** The calendar of a metric: its days, or the weeks or months that take their place. */
export const calendarOver = (calendar: Calendar, over: Over): Calendar =>
  over === "1d"
    ? calendar
    : new Calendar(calendar.zone, (time) => calendar.spanOf(SPANS[over], calendar.dayAt(time)));

/** "day", "week" or "month". */
export const overWord = (over: Over): string => (over === "1d" ? "day" : SPANS[over]);
