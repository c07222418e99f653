/** Everything that was counted, by day and θ, in order of time. */
import type { Mechanism } from "../core/tables/sectors.js";
import type { Day } from "../events/days/calendar.js";
import { addCells, addCounts, checkRoom, type DayTally, emptyTally } from "./dayTally.js";

/** Days that are kept. */
const HISTORY = 400;

export class DayTallies {
  #tallies = new Map<string, DayTally>();

  get all(): readonly DayTally[] {
    return [...this.#tallies.values()];
  }

  get reports(): number {
    return this.all.reduce((sum, { reports }) => sum + reports, 0);
  }

  /** Throws if a day is too old to be kept. */
  checkKept(day: Day): void {
    if (this.#tallies.size < HISTORY) return;
    const starts = new Set(this.all.map((tally) => tally.day.start));
    if (starts.size >= HISTORY && Math.min(...starts) > day.start)
      throw new RangeError(
        `at: expected a time of the ${HISTORY} days that are kept, got an earlier one; nothing was taken`,
      );
  }

  /**
   * Counts the reports of a day, all of them or, if there is no room, none.
   * @param groups cells of reports by θ
   */
  add(
    day: Day,
    groups: readonly { readonly theta: number; readonly cells: Uint32Array }[],
    mechanism: Mechanism,
  ): void {
    const found = groups
      .filter(({ cells }) => cells.length > 0)
      .map(({ theta, cells }) => ({
        tally: this.#tallies.get(keyOf(day, theta)) ?? emptyTally(day, theta),
        cells,
      }));
    for (const { tally, cells } of found) checkRoom(tally, cells.length);
    for (const { tally, cells } of found)
      this.#tallies.set(keyOf(day, tally.theta), addCells(tally, cells, mechanism));
    if (found.some(({ tally }) => tally.reports === 0)) this.#tallies = recent(this.#tallies);
  }

  /** These together with the tallies of another aggregator. */
  merged(given: readonly DayTally[]): Map<string, DayTally> {
    const tallies = new Map(this.#tallies);
    for (const tally of given) {
      const key = keyOf(tally.day, tally.theta);
      const own = tallies.get(key);
      tallies.set(key, own === undefined ? tally : addCounts(own, tally));
    }
    return recent(tallies);
  }

  replace(tallies: Map<string, DayTally>): void {
    this.#tallies = tallies;
  }
}

const keyOf = (day: Day, theta: number): string => `${day.start}/${theta}`;

/** In order of time, without days that are too old. */
function recent(tallies: ReadonlyMap<string, DayTally>): Map<string, DayTally> {
  const days = [...new Set([...tallies.values()].map(({ day }) => day.start))].sort((a, b) => b - a);
  const oldest = days[HISTORY - 1] ?? -Infinity;
  const kept = [...tallies].filter(([, { day }]) => day.start >= oldest);
  return new Map(kept.sort(([, a], [, b]) => a.day.start - b.day.start || a.theta - b.theta));
}
