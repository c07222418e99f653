/**
 * Reports of one day and one θ, counted: whole numbers, so tallies of workers and days add up exactly, in any order. A day has one
 * θ; reports made for yesterday's θ that come today have a tally of their own.
 */
import type { Mechanism } from "../core/tables/sectors.js";
import type { Day } from "../events/days/calendar.js";
import { BINS } from "./mechanisms.js";

/** Counts of reports of one mechanism and bound. */
export interface ReportCounts {
  readonly theta: number;
  readonly reports: number;
  /** Σ of their cells: a double holds it exactly, for 2³² reports of cells below 2²¹. */
  readonly cells: number;
  /** Reports per output bin. */
  readonly counts: Float64Array;
}

export interface DayTally extends ReportCounts {
  /** The day of arrival. */
  readonly day: Day;
}

export const MOST_REPORTS = 2 ** 32;

/** Output cells in a bin. */
export const binCells = ({ top, width }: Mechanism): number => (top + width + 1) / BINS;

export const emptyTally = (day: Day, theta: number): DayTally => ({
  day,
  theta,
  reports: 0,
  cells: 0,
  counts: new Float64Array(BINS),
});

/** Throws if a tally has no room for so many reports more. */
export function checkRoom({ reports }: ReportCounts, more: number): void {
  if (reports + more > MOST_REPORTS)
    throw new RangeError("reports: expected at most 2^32 in a tally, got more; nothing was taken");
}

/** Counts a batch of cells, for which there is room: the counts change in place, the totals are in the tally returned. */
export function addCells(tally: DayTally, cells: Uint32Array, mechanism: Mechanism): DayTally {
  const wide = binCells(mechanism);
  let sum = 0; // at most 2²⁴ cells below 2²¹
  for (const cell of cells) {
    tally.counts[Math.floor(cell / wide)]!++;
    sum += cell;
  }
  return { ...tally, reports: tally.reports + cells.length, cells: tally.cells + sum };
}

/** Two tallies of one θ as one; neither changes. */
export function addCounts<T extends ReportCounts>(a: T, b: ReportCounts): T {
  checkRoom(a, b.reports);
  const counts = a.counts.map((count, i) => count + b.counts[i]!);
  return { ...a, counts, reports: a.reports + b.reports, cells: a.cells + b.cells };
}

/** Tallies pooled by θ, rising: reports of one θ are alike, whatever their day. */
export function pooled(tallies: Iterable<ReportCounts>): ReportCounts[] {
  const groups = new Map<number, ReportCounts>();
  for (const tally of tallies) {
    const { theta, reports, cells, counts } = tally;
    const group = groups.get(theta);
    groups.set(
      theta,
      group === undefined ? { theta, reports, cells, counts: counts.slice() } : addCounts(group, tally),
    );
  }
  return [...groups.values()].filter(({ reports }) => reports > 0).sort((a, b) => a.theta - b.theta);
}
