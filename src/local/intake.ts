/** The server's door: reads reports of one phase and grid, one by one, and says of each whether it is taken or why not. */
import { header, type Phase, type Report, REPORT_BYTES, unpackReport, VERSION } from "./report.js";

/** Why a report was rejected. */
export interface RejectedCounts {
  /** Not a report: no such object, or bytes that are none. */
  malformed: number;
  /** Another version of the protocol. */
  version: number;
  /** A phase that is not being taken. */
  phase: number;
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

/** What a phase takes. */
export interface Wanted {
  readonly phase: Phase;
  readonly grid: number;
  readonly cells: number;
}

/** What a batch holds: cells of the reports that are as wanted, in order, and how many others there are. */
export interface Intake {
  readonly cells: Uint32Array;
  readonly rejected: RejectedCounts;
}

/** Most reports in one batch: an endless iterable must not take all memory. */
export const BATCH_LIMIT = 2 ** 24;

/**
 * Reads a whole batch and changes nothing, so an iterable that throws on the way has no effect. Getters, iterators and
 * Proxies of the caller run here and nowhere else.
 * @param wanted `undefined`: no report is taken at present
 */
export function readReports(batch: ReportBatch, wanted: Wanted | undefined): Intake {
  const rejected = noRejections();
  const taken = isBytes(batch) ? fromBytes(batch, wanted, rejected) : fromItems(batch, wanted, rejected);
  return { cells: taken, rejected };
}

/** A real Uint8Array: a Proxy of one is not. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && value instanceof Uint8Array;

/**
 * Reports end to end. One that has the right first byte and grid needs no more than a look at its cell. They are copied
 * first: no other thread changes them after the check, and a false `length` on the array has no effect.
 */
function fromBytes(given: Uint8Array, wanted: Wanted | undefined, rejected: RejectedCounts): Uint32Array {
  const bytes = new Uint8Array(given);
  checkCount(bytes.length / REPORT_BYTES);
  const view = new DataView(bytes.buffer);
  const whole = Math.floor(bytes.length / REPORT_BYTES);
  const head = wanted ? header(VERSION, wanted.phase) : -1;
  const cells = new Uint32Array(whole);
  let taken = 0;
  for (let i = 0, at = 0; i < whole; i++, at += REPORT_BYTES) {
    const first = view.getUint32(at, true);
    if (
      (first & 0xff) === head &&
      view.getUint32(at + 4, true) === wanted!.grid &&
      first >>> 8 < wanted!.cells
    )
      cells[taken++] = first >>> 8;
    else rejected[judge(unpackReport(bytes, at), wanted) as keyof RejectedCounts]++;
  }
  if (bytes.length % REPORT_BYTES !== 0) rejected.malformed++; // cut short
  return cells.subarray(0, taken);
}

function fromItems(
  batch: Iterable<unknown>,
  wanted: Wanted | undefined,
  rejected: RejectedCounts,
): Uint32Array {
  if (typeof batch !== "object" || (batch as unknown) === null || !(Symbol.iterator in batch))
    throw new TypeError("reports: expected an iterable of reports, or their packed bytes");
  const cells: number[] = [];
  let count = 0;
  for (const item of batch) {
    checkCount(++count);
    const verdict = judge(isBytes(item) ? unpackedAlone(item) : item, wanted);
    if (typeof verdict === "number") cells.push(verdict);
    else rejected[verdict]++;
  }
  return Uint32Array.from(cells);
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

/** The report's cell, or the first thing that is wrong with it. Each field is read once. */
function judge(report: unknown, wanted: Wanted | undefined): number | keyof RejectedCounts {
  if (typeof report !== "object" || report === null) return "malformed";
  const [version, phase, grid] = [field(report, "version"), field(report, "phase"), field(report, "grid")];
  if (!Number.isInteger(version) || typeof phase !== "string" || !Number.isInteger(grid)) return "malformed";
  if (version !== VERSION) return "version";
  if (wanted === undefined || phase !== wanted.phase) return "phase";
  if (grid !== wanted.grid) return "grid";
  const cell = field(report, "cell");
  return typeof cell === "number" && Number.isInteger(cell) && cell >= 0 && cell < wanted.cells
    ? cell
    : "cell";
}
