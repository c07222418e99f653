/** Days of a time zone, as the budget names them. */

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

  /** When the day of a time ends: the first millisecond with another name. */
  endOf(time: number): number {
    const name = this.nameOf(time);
    let [low, high] = [time, time + 26 * 3_600_000];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.nameOf(middle) === name) low = middle;
      else high = middle;
    }
    return high;
  }
}
