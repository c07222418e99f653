/** Days of a time zone, as the budget names them. */
import { dayAt, HOUR } from "brume/node";

export class ZoneDays {
  // Parameters
  readonly #zone: string;
  readonly #format: Intl.DateTimeFormat;
  // State
  /** The day that was asked for last. */
  #last = { start: 0, end: 0 };

  constructor(zone: string) {
    this.#zone = zone;
    this.#format = new Intl.DateTimeFormat("en-CA", {
      ...{ timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" },
    });
  }

  #dayAt(time: number): { readonly start: number; readonly end: number } {
    if (!(time >= this.#last.start && time < this.#last.end)) this.#last = dayAt(time, this.#zone);
    return this.#last;
  }

  /** "2026-11-17". */
  nameOf(time: number): string {
    return this.#format.format(this.#dayAt(time).start);
  }

  /**
   * When the day of a name begins, or the next one if the zone skipped it; NaN if there is no such date. Before the year 1000,
   * when days have other names, and after 6399, when zones have none, that of UTC.
   */
  startOf(name: string): number {
    const utc = Date.parse(name);
    if (!(name >= "1000" && name < "6400") || Number.isNaN(utc)) return utc;
    // Zones are between 12 hours behind and 14 hours ahead of UTC: the day is one of these.
    let end = utc - 40 * HOUR;
    for (let day = 0; day < 4; day++) {
      end = this.endOf(end);
      if (this.nameOf(end) >= name) return end;
    }
    return utc;
  }

  /** When the day of a time ends. */
  endOf(time: number): number {
    return this.#dayAt(time).end;
  }
}
