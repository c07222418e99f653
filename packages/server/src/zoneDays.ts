/** Days of a time zone, as the budget names them. */

const HOUR = 3_600_000;

export class ZoneDays {
  readonly #format: Intl.DateTimeFormat;

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat("en-CA", {
      ...{ timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" },
    });
  }

  /** "2026-11-17". */
  nameOf(time: number): string {
    return this.#format.format(time);
  }

  /**
   * When the day of a name begins, or the next one if the zone skipped it; NaN if there is no such date. Before the year 1000,
   * when days have other names, that of UTC.
   */
  startOf(name: string): number {
    const utc = Date.parse(name);
    if (!(name >= "1000") || Number.isNaN(utc)) return utc;
    // Zones are between 12 hours behind and 14 hours ahead of UTC: the day is one of these.
    let end = utc - 40 * HOUR;
    for (let day = 0; day < 4; day++) {
      end = this.endOf(end);
      if (this.nameOf(end) >= name) return end;
    }
    return utc;
  }

  /** When the day of a time ends: the first millisecond with another name. */
  endOf(time: number): number {
    const name = this.nameOf(time);
    let [low, high] = [time, time + 26 * HOUR];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.nameOf(middle) === name) low = middle;
      else high = middle;
    }
    return high;
  }
}
