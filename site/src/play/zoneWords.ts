/** Times of a log as people of its zone read them. */
import type { Words } from "../charts/lines.js";
import { withUnit } from "../look/format.js";
import type { Span } from "../workers/logPlayer.js";

export const MINUTE = 60_000;
const DAY = 1440; // minutes
const STEPS = [5, 15, 30, 60, 120, 180, 360, 720].concat(
  [1, 2, 7, 14, 28, 91, 364].map((days) => days * DAY),
);

export class ZoneWords {
  readonly zone: string;
  readonly #day: Intl.DateTimeFormat;
  readonly #short: Intl.DateTimeFormat;
  readonly #time: Intl.DateTimeFormat;

  /** @param years whether days have their year beside them */
  constructor(zone: string, years: boolean) {
    this.zone = zone;
    const format = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options });
    this.#day = format({
      weekday: "short",
      day: "numeric",
      month: "short",
      ...(years ? { year: "numeric" } : {}),
    });
    this.#short = format({ day: "numeric", month: "short" });
    this.#time = format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  }

  /** "Wed 25 Mar". */
  day(time: number): string {
    return this.#day.format(time).replace(",", "");
  }

  time(time: number): string {
    return this.#time.format(time);
  }

  /** A day by its name, several days by two, anything else by its ends. */
  span({ from, to }: Span): string {
    const [start, end] = [this.time(from), this.time(to)];
    if (start === "00:00" && end === "00:00")
      return this.day(from) === this.day(to - 1)
        ? this.day(from)
        : `${this.day(from)} to ${this.day(to - 1)}`;
    return this.day(from) === this.day(to - 1)
      ? `${this.day(from)}, ${start} to ${end === "00:00" ? "24:00" : end}`
      : `${this.day(from)}, ${start} to ${this.day(to)}, ${end}`;
  }

  /**
   * Words of a plot whose positions are minutes from `start`.
   * @param columnAt the column that a position lies in
   */
  plot(start: number, unit: string, columnAt: (time: number) => Span | undefined): Words {
    const timeOf = (position: number) => start + position * MINUTE;
    return {
      unit,
      tick: (position) => {
        const [day, time] = [this.#short.format(timeOf(position)), this.time(timeOf(position))];
        return time === "00:00" ? day : time;
      },
      place: (position) => {
        const column = columnAt(timeOf(position));
        return column === undefined
          ? this.span({ from: timeOf(position), to: timeOf(position) })
          : this.span(column);
      },
      value: (value) => withUnit(Math.max(0, value), unit),
      steps: STEPS,
    };
  }
}

/** All zones that the browser knows, its own first. */
export function zoneOptions(own: string): [value: string, name: string][] {
  const others = Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC");
  return [
    ["", `${own} (this browser)`],
    ["UTC", "UTC"],
    ...others.map((zone): [string, string] => [zone, zone]),
  ];
}
