/** The server's door: takes reports of one phase and grid, one by one; counts what it refuses and why, and goes on. */
import { header, type Phase, type Report, REPORT_BYTES, unpackReport, VERSION } from "./report.js";

/** Why a report was refused. */
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

export const noRefusals = (): RejectedCounts => ({
  malformed: 0,
  version: 0,
  phase: 0,
  grid: 0,
  cell: 0,
  late: 0,
});

/** Objects, packed reports of 8 bytes, or one array of packed reports end to end. */
export type ReportBatch = Iterable<Report | Uint8Array> | Uint8Array;

/** What a phase takes; no grid: nothing at present. */
export interface Wanted {
  readonly phase: Phase;
  readonly grid: number;
  readonly cells: number;
}

/**
 * The cells of the reports that are as wanted, in order; counts the others in `refused`. All reports are read before the
 * first is counted: an iterable that throws on the way leaves everything as it was.
 */
export function takeReports(
  batch: ReportBatch,
  wanted: Wanted | undefined,
  refused: RejectedCounts,
): Uint32Array {
  if (batch instanceof Uint8Array) return takePacked(batch, wanted, refused);
  const verdicts = Array.from(unpacked(batch), (report) => judge(report, wanted));
  const cells = new Uint32Array(verdicts.length);
  let taken = 0;
  for (const verdict of verdicts)
    if (typeof verdict === "number") cells[taken++] = verdict;
    else refused[verdict]++;
  return cells.subarray(0, taken);
}

/** Reports end to end. One that has the right first byte and grid needs no more than a look at its cell. */
function takePacked(bytes: Uint8Array, wanted: Wanted | undefined, refused: RejectedCounts): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = Math.floor(bytes.length / REPORT_BYTES);
  const head = wanted && header(VERSION, wanted.phase);
  const { grid = NaN, cells: most = 0 } = wanted ?? {};
  const cells = new Uint32Array(whole);
  let taken = 0;
  for (let i = 0, at = 0; i < whole; i++, at += REPORT_BYTES) {
    const first = view.getUint32(at, true);
    if ((first & 0xff) === head && view.getUint32(at + 4, true) === grid && first >>> 8 < most)
      cells[taken++] = first >>> 8;
    else refused[judge(unpackReport(bytes, at), wanted) as keyof RejectedCounts]++;
  }
  if (bytes.length % REPORT_BYTES !== 0) refused.malformed++; // cut short
  return cells.subarray(0, taken);
}

function* unpacked(batch: Exclude<ReportBatch, Uint8Array>): Generator<unknown> {
  if (typeof batch !== "object" || batch === null || !(Symbol.iterator in batch))
    throw new TypeError("reports: expected an iterable of reports, or their packed bytes");
  for (const item of batch as Iterable<unknown>)
    yield item instanceof Uint8Array ? (item.length === REPORT_BYTES ? unpackReport(item) : undefined) : item;
}

/** The report's cell, or the first thing that is wrong with it. Each field is read once. */
function judge(report: unknown, wanted: Wanted | undefined): number | keyof RejectedCounts {
  if (typeof report !== "object" || report === null) return "malformed";
  const { version, phase, grid, cell } = report as Partial<Record<keyof Report, unknown>>;
  if (!Number.isInteger(version) || typeof phase !== "string" || !Number.isInteger(grid)) return "malformed";
  if (version !== VERSION) return "version";
  if (wanted === undefined || phase !== wanted.phase) return "phase";
  if (grid !== wanted.grid) return "grid";
  return typeof cell === "number" && Number.isInteger(cell) && cell >= 0 && cell < wanted.cells
    ? cell
    : "cell";
}
