/** Validates a batch of reports against the grids that are wanted, and counts rejections by reason. */
import { header, type Phase, type Report, REPORT_BYTES, unpackReport, VERSION } from "./report.js";

/** Why a report was rejected. */
export interface RejectedCounts {
  /** Not a report: no such object, or bytes that are none. */
  malformed: number;
  /** Another version of the protocol. */
  version: number;
  /** A phase that is not being taken, or a variant. */
  phase: number;
  /** Made for the θ of a day before yesterday. */
  stale: number;
  /** Made for another ε, max or θ. */
  grid: number;
  /** Not a cell of the grid. */
  cell: number;
  /** A learn-report after the last one that was wanted. */
  late: number;
}

export const noRejections = (): RejectedCounts => ({
  malformed: 0,
  version: 0,
  phase: 0,
  stale: 0,
  grid: 0,
  cell: 0,
  late: 0,
});

export function addRejections(
  a: Readonly<RejectedCounts>,
  b: Readonly<RejectedCounts>,
): Readonly<RejectedCounts> {
  const sum = { ...a };
  for (const reason of Object.keys(b) as (keyof RejectedCounts)[]) sum[reason] += b[reason];
  return sum;
}

/** Objects, packed reports of 8 bytes, or one array of packed reports end to end. */
export type ReportBatch = Iterable<Report | Uint8Array> | Uint8Array;

/** One kind of report that is taken. */
export interface Wanted {
  /** The phase of the paper's variant; undefined in the default one. */
  readonly phase?: Phase;
  readonly grid: number;
  readonly cells: number;
}

/** Validated batch: for each expected kind the cells of its reports, in order, and how many reports were rejected. */
export interface Intake {
  readonly cells: readonly Uint32Array[];
  readonly rejected: RejectedCounts;
}

/** Most reports in one batch: an endless iterable must not take all memory. */
export const BATCH_LIMIT = 2 ** 24;

/**
 * Reads a whole batch and changes nothing, so an iterable that throws on the way has no effect. Getters, iterators and
 * Proxies of the caller run here and nowhere else.
 * @param wanted all of one phase; none: no report is taken at present
 * @param stale grids that were wanted once
 */
export function readReports(
  batch: ReportBatch,
  wanted: readonly Wanted[],
  stale: ReadonlySet<number> = NONE,
): Intake {
  const rejected = noRejections();
  const judged = (report: unknown) => judge(report, wanted, stale);
  const cells = isBytes(batch)
    ? fromBytes(batch, wanted, judged, rejected)
    : fromItems(batch, wanted, judged, rejected);
  return { cells, rejected };
}

const NONE: ReadonlySet<number> = new Set();

/** The kind that a report is of, and its cell; or what is wrong with it. */
type Verdict = readonly [kind: number, cell: number] | keyof RejectedCounts;

/** A real Uint8Array: a Proxy of one is not. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && value instanceof Uint8Array;

/**
 * Reports end to end. One that has the right first byte and grid needs no more than a look at its cell. They are copied
 * first: no other thread changes them after the check, and a false `length` on the array has no effect.
 */
function fromBytes(
  given: Uint8Array,
  wanted: readonly Wanted[],
  judged: (report: unknown) => Verdict,
  rejected: RejectedCounts,
): Uint32Array[] {
  const bytes = new Uint8Array(given);
  checkCount(bytes.length / REPORT_BYTES);
  const view = new DataView(bytes.buffer);
  const whole = Math.floor(bytes.length / REPORT_BYTES);
  const head = wanted[0] === undefined ? -1 : header(VERSION, wanted[0].phase);
  const cells = wanted.map(() => new Uint32Array(whole));
  const taken = wanted.map(() => 0);
  for (let i = 0, at = 0; i < whole; i++, at += REPORT_BYTES) {
    const first = view.getUint32(at, true);
    let kind = -1;
    if ((first & 0xff) === head) {
      const grid = view.getUint32(at + 4, true);
      for (let k = 0; k < wanted.length; k++)
        if (grid === wanted[k]!.grid && first >>> 8 < wanted[k]!.cells) kind = k;
    }
    if (kind >= 0) cells[kind]![taken[kind]!++] = first >>> 8;
    else rejected[judged(unpackReport(bytes, at)) as keyof RejectedCounts]++;
  }
  if (bytes.length % REPORT_BYTES !== 0) rejected.malformed++; // cut short
  return cells.map((one, k) => one.subarray(0, taken[k]));
}

function fromItems(
  batch: Iterable<unknown>,
  wanted: readonly Wanted[],
  judged: (report: unknown) => Verdict,
  rejected: RejectedCounts,
): Uint32Array[] {
  if (typeof batch !== "object" || (batch as unknown) === null || !(Symbol.iterator in batch))
    throw new TypeError("reports: expected an iterable of reports, or their packed bytes");
  const cells = wanted.map((): number[] => []);
  let count = 0;
  for (const item of batch) {
    checkCount(++count);
    const verdict = judged(isBytes(item) ? unpackedAlone(item) : item);
    if (typeof verdict === "string") rejected[verdict]++;
    else cells[verdict[0]]!.push(verdict[1]);
  }
  return cells.map((one) => Uint32Array.from(one));
}

function checkCount(count: number): void {
  if (count > BATCH_LIMIT)
    throw new RangeError(
      `reports: expected at most ${BATCH_LIMIT} in a batch, got more; send them in several batches`,
    );
}

/** The report in an array of its own; `undefined` if the array has another length. */
function unpackedAlone(item: Uint8Array): Report | undefined {
  const bytes = new Uint8Array(item);
  return bytes.length === REPORT_BYTES ? unpackReport(bytes) : undefined;
}

/** A field of a report: own properties only, so that nothing on a prototype fills a gap. */
const field = (report: object, name: keyof Report): unknown =>
  Object.hasOwn(report, name) ? (report as Report)[name] : undefined;

/** A report's kind and cell, or the first thing that is wrong with it. Each field is read once. */
function judge(report: unknown, wanted: readonly Wanted[], stale: ReadonlySet<number>): Verdict {
  if (typeof report !== "object" || report === null) return "malformed";
  const [version, phase, grid] = [field(report, "version"), field(report, "phase"), field(report, "grid")];
  const named = phase === undefined || typeof phase === "string";
  if (!Number.isInteger(version) || !named || !Number.isInteger(grid)) return "malformed";
  if (version !== VERSION) return "version";
  if (wanted.length === 0 || phase !== wanted[0]!.phase) return "phase";
  const kind = wanted.findIndex((one) => one.grid === grid);
  if (kind < 0) return stale.has(grid as number) ? "stale" : "grid";
  const cell = field(report, "cell");
  return typeof cell === "number" && Number.isInteger(cell) && cell >= 0 && cell < wanted[kind]!.cells
    ? [kind, cell]
    : "cell";
}
