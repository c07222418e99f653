/** The periods of one day, and the shape of the tree of noise over them: public, from the day's length and the options alone. */
import { type DayShape, makeDayShape } from "../../core/dayShape.js";
import { DAY, type Day } from "./calendar.js";

/** The length of a day's periods: a day that is one period is as long as it is. */
export const periodLength = ({ start, end }: Day, every: number): number =>
  every === DAY ? end - start : every;

/** The periods of one day: what a tree of noise covers. */
export class DayPeriods {
  readonly day: Day;
  /** Where the first leaf starts: the day's start, or the first period that began after the stream did. */
  readonly start: number;
  readonly shape: DayShape;
  readonly #length: number;

  /**
   * @param levels milliseconds, finest first
   * @param from the stream's start: periods that began before it are not published
   */
  constructor(day: Day, levels: readonly number[], from = -Infinity) {
    this.day = day;
    const length = (this.#length = periodLength(day, levels[0]!));
    const skipped = Math.max(0, Math.ceil((from - day.start) / length));
    this.start = Math.min(day.end, day.start + skipped * length);
    this.shape = shapeOf(day.end - day.start, levels, skipped);
  }

  get leaves(): number {
    return this.shape.sizes[0]!;
  }

  /** The leaf that a time of this day lies in; negative before the first. */
  leafAt(time: number): number {
    return Math.floor((time - this.start) / this.#length);
  }

  /** When a leaf starts; of one after the last, the day's end. */
  startOf(leaf: number): number {
    return Math.min(this.day.end, this.start + leaf * this.#length);
  }
}

/** Shapes are equal for almost all days: one is made, and used by all streams. */
const shapes = new Map<string, DayShape>();
const MOST_SHAPES = 64;

function shapeOf(length: number, levels: readonly number[], skipped: number): DayShape {
  const name = [length, skipped, ...levels].join();
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const counts = levels.map((level) => (level === DAY ? 1 : Math.ceil(length / level)));
  const leaves = counts[0]! - skipped;
  if (leaves < 1) throw new RangeError("day: expected at least one whole period in it");
  const fanouts = levels.slice(1).map((level, l) => {
    const below = levels[l]!;
    const [children, first] = [counts[l]!, Math.floor((skipped * levels[0]!) / below)];
    const size = level === DAY ? children : level / below; // a day holds all, however long it is
    const firstNode = Math.floor(first / size);
    return Array.from({ length: counts[l + 1]! - firstNode }, (_, i) => {
      const node = firstNode + i;
      return Math.min(children, (node + 1) * size) - Math.max(first, node * size);
    });
  });
  const shape = makeDayShape(leaves, fanouts);
  if (shapes.size >= MOST_SHAPES) shapes.clear();
  shapes.set(name, shape);
  return shape;
}
