/** Places on the lab's plot: which range a drag means, what a zoom shows, what stands at a column. */
import type { Lines } from "../charts/lines.js";
import { type Meaning, place } from "../data/meaning.js";
import { withUnit } from "../look/format.js";
import type { Part } from "../workers/protocol.js";
import type { State } from "./state.js";

/** The fewest values that the plot shows. */
const LEAST_SHOWN = 64;

/** A range that was drawn, moved to the nearest ends of blocks: those have the sharpest answers. */
export function snapped(from: number, to: number, holdout: number, block: number, total: number): Part {
  const [start, end] = [from, to].map((at) => holdout + Math.round((at - holdout) / block) * block) as [
    number,
    number,
  ];
  const sharp = from < to && from > holdout && start < end && end <= total;
  return sharp ? { from: start, to: end } : { from, to };
}

/** The part that the plot shows. */
export function shownPart({ left, right }: State, total: number): Part {
  const to = Math.min(right, total);
  return left < to ? { from: left, to } : { from: 0, to: total };
}

/** The part that is `factor` times as long, with the same value at a share of the width; none if nothing changes. */
export function zoomed({ from, to }: Part, factor: number, around: number, total: number): Part | undefined {
  const length = Math.min(total, Math.max(LEAST_SHOWN, Math.round((to - from) * factor)));
  if (length === to - from) return undefined;
  const pivot = from + around * (to - from);
  const left = Math.round(Math.min(total - length, Math.max(0, pivot - around * length)));
  return { from: left, to: left + length };
}

/** A column as a sentence. */
export function columnInWords(lines: Lines, column: number, meaning: Meaning): string {
  const value = (line: Float64Array | undefined) =>
    line === undefined || Number.isNaN(line[column]!) ? "none" : withUnit(line[column]!, meaning.unit);
  return `${place(lines.x[column]!, meaning)}: private ${value(lines.private)}, secret ${value(lines.secret)}`;
}

/** A link's position; else far enough in for a picture, or at the end for those who want no motion. */
export function startOf({ at, holdout }: State, total: number): number {
  if (at > 0) return at;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return total;
  return holdout + Math.floor(0.3 * total);
}
