/** Lines of a stream's chart: columns of averages with their margins and labels. NaN where nothing is known. */

export interface Lines {
  /** Right ends or middles of the columns, ascending, in positions of the stream. */
  readonly x: Float64Array;
  /** The true averages, which only the owner of the data has. */
  readonly secret?: Float64Array;
  /** The truth with what is not counted, where some of it is not. */
  readonly uncounted?: Float64Array;
  readonly private: Float64Array;
  /** The margin: ends of the interval for the noise. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** `high` and what clamping hides. */
  readonly clampedHigh?: Float64Array;
  /** Predictions: the numbers published before their block was finished. */
  readonly prediction?: Float64Array;
}

/** How positions and values read to people. */
export interface Words {
  /** A tick of the horizontal axis. */
  tick(position: number): string;
  /** A place in a tooltip. */
  place(position: number): string;
  /** A value with its unit. */
  value(value: number): string;
  /** Unit of the vertical axis. */
  readonly unit: string;
  /** Name of the dashed line. Default "published then". */
  readonly dashed?: string;
  /** Distances between ticks that read well, in positions; any if left out. */
  readonly steps?: readonly number[];
}

export const known = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** From 0, or the lowest point, to a little above the highest; a wide margin may leave the picture. */
export function heights(lines: Lines | undefined, more: readonly Float64Array[] = []): [number, number] {
  let [low, high] = [0, 0];
  const alone = lines?.private.every(Number.isNaN) === true ? lines.prediction : undefined;
  for (const line of [lines?.secret, lines?.uncounted, lines?.private, alone, ...more])
    for (const value of line ?? []) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  const top = marginEnd(lines?.clampedHigh ?? lines?.high, 0.95);
  const bottom = marginEnd(lines?.low, 0.05);
  const room = 0.1 * (high - low || 1);
  return [
    low < 0 ? Math.min(low - room, Math.max(bottom, 1.6 * low)) : 0,
    Math.max(high + room, Math.min(top, 1.6 * high)),
  ];
}

/** An end of nearly all of the margin. */
function marginEnd(line: Float64Array | undefined, share: number): number {
  const ends = Array.from(line ?? []).filter((value) => !Number.isNaN(value));
  ends.sort((a, b) => a - b);
  return ends[Math.floor(share * ends.length)] ?? 0;
}
