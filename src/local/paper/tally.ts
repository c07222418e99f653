/**
 * The tally of an aggregator, as bytes of fixed length that any other one with the same parameters can add to its own:
 * whole numbers, so the order and the grouping of merges do not matter. All of it is public.
 *
 *     "tally" · version │ grid of the learn-reports │ learned, 1024 counts │ rejected │ θ, excess │ reports, windowed, cells, ones
 *
 * Numbers are doubles of 8 bytes, little-endian; `cells` is a whole number of 16 bytes.
 */
import { checkThreshold } from "../channel.js";
import { noRejections, type RejectedCounts } from "../intake.js";
import { BINS } from "../mechanisms.js";
import type { CellSums } from "./sums.js";

/** Counts of one aggregator. */
export interface Tally {
  /** Grid of the learn-reports: ε and `max` as one number. */
  readonly grid: number;
  /** Learn-reports per output bin. */
  readonly counts: Float64Array;
  readonly rejected: Readonly<RejectedCounts>;
  /** θ, once chosen; what clamping to it hides of a value, where that is known. */
  readonly theta: number | undefined;
  readonly excess: number | undefined;
  readonly released: CellSums;
}

const VERSION = 1;
const MAGIC = new TextEncoder().encode("tally");
const REASONS = /* @__PURE__ */ Object.keys(/* @__PURE__ */ noRejections()) as (keyof RejectedCounts)[];
const NUMBERS = 1 + BINS + REASONS.length + 2 + 3;
export const TALLY_BYTES = MAGIC.length + 1 + 8 * NUMBERS + 16;

export function encodeTally({
  grid,
  counts,
  rejected,
  theta,
  excess,
  released,
}: Tally): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TALLY_BYTES);
  bytes.set(MAGIC);
  bytes[MAGIC.length] = VERSION;
  const view = new DataView(bytes.buffer);
  const { reports, windowed, cells, ones } = released;
  const numbers = [
    grid,
    ...counts,
    ...REASONS.map((reason) => rejected[reason]),
    ...[theta ?? -1, excess ?? -1, reports, windowed, ones],
  ];
  numbers.forEach((number, i) => view.setFloat64(MAGIC.length + 1 + 8 * i, number, true));
  view.setBigUint64(TALLY_BYTES - 16, cells & 0xffff_ffff_ffff_ffffn, true);
  view.setBigUint64(TALLY_BYTES - 8, cells >> 64n, true);
  return bytes;
}

/** Reads bytes that came from elsewhere: every number is checked before it is used. Sums are checked by who knows θ's grid. */
export function decodeTally(given: unknown, max: number): Tally {
  if (!(given instanceof Uint8Array))
    throw new TypeError("tally: expected an aggregator or the bytes of its tally");
  const bytes = new Uint8Array(given); // a copy: another thread cannot change it after the checks
  if (bytes.length !== TALLY_BYTES || MAGIC.some((byte, i) => bytes[i] !== byte))
    throw new RangeError(
      `tally: expected the ${TALLY_BYTES} bytes that tally() makes, got ${bytes.length} others`,
    );
  if (bytes[MAGIC.length] !== VERSION)
    throw new RangeError(
      `tally: expected version ${VERSION}, got ${bytes[MAGIC.length]}; all workers need the same version`,
    );
  const view = new DataView(bytes.buffer);
  let at = MAGIC.length + 1;
  const next = (): number => view.getFloat64((at += 8) - 8, true);
  const whole = (): number => {
    const number = next();
    if (!(Number.isSafeInteger(number) && number >= 0))
      throw new RangeError("tally: expected whole numbers, got something else; the bytes are damaged");
    return number;
  };
  const grid = whole();
  const counts = Float64Array.from({ length: BINS }, whole);
  const rejected = noRejections();
  for (const reason of REASONS) rejected[reason] = whole();
  const [theta, excess] = [next(), next()];
  const [reports, windowed, ones] = [whole(), whole(), whole()];
  const cells = view.getBigUint64(at, true) + (view.getBigUint64(at + 8, true) << 64n);
  return {
    grid,
    counts,
    rejected,
    theta: theta === -1 ? undefined : checkThreshold(theta, max),
    excess: excess >= 0 && excess <= max ? excess : undefined,
    released: { reports, windowed, cells, ones },
  };
}

/** Totals below 2⁵³ are exact, and so are their parts: what is stored of them can be read again. */
export function checkTotals(totals: readonly number[]): void {
  if (!totals.every(Number.isSafeInteger))
    throw new RangeError("merge: expected fewer than 2^53 reports in all, got a tally of more");
}
