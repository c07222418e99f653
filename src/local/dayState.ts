/**
 * All that an aggregator of days has counted and decided, as bytes that others merge. All of it is public.
 *
 *     "days" · version │ ε, max, θ of the first days │ zone │ rejected │ day of the newest choice │ choices │ tallies
 *
 * Whole numbers take 7 bits a byte, lowest first; others are doubles of 8 bytes, little-endian. A run of empty bins is a 0 and its
 * length, so a day takes as many bytes as it needs: 1 to 2 KB up to a million reports.
 */
import type { Day } from "../events/days/calendar.js";
import { checkMax, checkThreshold } from "./channel.js";
import { binCells, type DayTally, MOST_REPORTS } from "./dayTally.js";
import { noRejections, type RejectedCounts } from "./intake.js";
import { BINS, checkLocalEpsilon, dayWindow } from "./mechanisms.js";
import type { Choices } from "./thetas.js";

export interface DayState extends Choices {
  readonly epsilon: number;
  readonly max: number;
  readonly start: number;
  readonly zone: string;
  readonly rejected: Readonly<RejectedCounts>;
  readonly tallies: readonly DayTally[];
}

const VERSION = 1;
const MAGIC = new TextEncoder().encode("days");
const REASONS = /* @__PURE__ */ Object.keys(/* @__PURE__ */ noRejections()) as (keyof RejectedCounts)[];
/** More days, choices and tallies than any aggregator keeps. */
const MOST = 4096;
const LONGEST_ZONE = 256;

export function encodeDays(state: DayState): Uint8Array<ArrayBuffer> {
  const out: number[] = [...MAGIC, VERSION];
  const eight = new DataView(new ArrayBuffer(8));
  const double = (value: number): void => {
    eight.setFloat64(0, value, true);
    for (let i = 0; i < 8; i++) out.push(eight.getUint8(i));
  };
  const whole = (value: number): void => {
    for (; value >= 128; value = Math.floor(value / 128)) out.push((value % 128) + 128);
    out.push(value);
  };
  const { epsilon, max, start, zone, rejected, decided, choices, tallies } = state;
  [epsilon, max, start].forEach(double);
  const name = new TextEncoder().encode(zone);
  whole(name.length);
  out.push(...name);
  REASONS.forEach((reason) => whole(rejected[reason]));
  [decided?.start ?? NaN, decided?.end ?? NaN].forEach(double);
  whole(choices.length);
  for (const { from, theta } of choices) [from, theta].forEach(double);
  whole(tallies.length);
  for (const { day, theta, cells, counts } of tallies) {
    [day.start, day.end, theta].forEach(double);
    whole(cells);
    for (let i = 0; i < BINS;) {
      whole(counts[i]!);
      if (counts[i++]! > 0) continue;
      const first = i;
      while (i < BINS && counts[i] === 0) i++;
      whole(i - first);
    }
  }
  return Uint8Array.from(out);
}

const DAMAGED = "tally: expected the bytes that tally() makes, got others; they are damaged";

/** Reads bytes that came from elsewhere: every number is checked before it is used. */
export function decodeDays(given: unknown): DayState {
  if (!(given instanceof Uint8Array))
    throw new TypeError("tally: expected an aggregator or the bytes of its tally");
  const bytes = new Uint8Array(given); // a copy: another thread cannot change it after the checks
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw new RangeError(DAMAGED);
  if (bytes[MAGIC.length] !== VERSION)
    throw new RangeError(
      `tally: expected version ${VERSION}, got ${bytes[MAGIC.length]}; all workers need the same version`,
    );
  const view = new DataView(bytes.buffer);
  let at = MAGIC.length + 1;
  const check = (right: boolean): void => {
    if (!right) throw new RangeError(DAMAGED);
  };
  const double = (): number => {
    check(at + 8 <= bytes.length);
    return view.getFloat64((at += 8) - 8, true);
  };
  const whole = (most = Number.MAX_SAFE_INTEGER): number => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      check(at < bytes.length && unit <= 2 ** 49);
      const byte = bytes[at++]!;
      value += (byte % 128) * unit;
      if (byte < 128) break;
    }
    check(value <= most);
    return value;
  };
  const dayOf = (start: number, end: number): Day => {
    check(Number.isInteger(start) && Number.isInteger(end) && start < end && end - start <= 4 * 86_400_000);
    return { start, end };
  };
  const epsilon = checkLocalEpsilon("tally.epsilon", double());
  const max = checkMax(double());
  const start = checkThreshold(double(), max);
  const length = whole(LONGEST_ZONE);
  check(at + length <= bytes.length);
  const zone = new TextDecoder().decode(bytes.subarray(at, (at += length)));
  const rejected = noRejections();
  for (const reason of REASONS) rejected[reason] = whole();
  const [from, to] = [double(), double()];
  const decided = Number.isNaN(from) ? undefined : dayOf(from, to);
  const choices = Array.from({ length: whole(MOST) }, () => ({
    from: double(),
    theta: checkThreshold(double(), max),
  }));
  check(choices.every(({ from }, i) => Number.isInteger(from) && (i === 0 || from > choices[i - 1]!.from)));
  const mechanism = dayWindow(epsilon);
  const wide = binCells(mechanism);
  const tallies = Array.from({ length: whole(MOST) }, (): DayTally => {
    const day = dayOf(double(), double());
    const theta = checkThreshold(double(), max);
    const cells = whole();
    const counts = new Float64Array(BINS);
    for (let i = 0; i < BINS; i++) if ((counts[i] = whole()) === 0) i += whole(BINS - 1 - i);
    const reports = counts.reduce((sum, count) => sum + count, 0);
    const least = counts.reduce((sum, count, i) => sum + count * i * wide, 0);
    const most =
      counts.reduce((sum, count, i) => sum + count * Math.min((i + 1) * wide, mechanism.cells), 0) - reports;
    check(reports <= MOST_REPORTS && cells >= least && cells <= most);
    return { day, theta, reports, cells, counts };
  });
  check(at === bytes.length);
  return { epsilon, max, start, zone, rejected, decided, choices, tallies };
}
