/** The server's door: takes reports of one phase and grid, one by one; counts what it refuses and why, and goes on. */
import { type Phase, type Report, REPORT_BYTES, unpackReport, VERSION } from "./report.js";

/** Why a report was refused. */
export interface Refused {
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

export const noRefusals = (): Refused => ({ malformed: 0, version: 0, phase: 0, grid: 0, cell: 0, late: 0 });

/** Objects, packed reports of 8 bytes, or one array of packed reports end to end. */
export type Batch = Iterable<Report | Uint8Array> | Uint8Array;

/** What a phase takes; no grid: nothing at present. */
export interface Wanted {
  readonly phase: Phase;
  readonly grid: number;
  readonly cells: number;
}

/**
 * Calls `take` with the cell of every report that is as wanted; counts the others in `refused`. All reports are read
 * before the first is taken: an iterable that throws on the way leaves everything as it was.
 */
export function takeReports(
  batch: Batch,
  wanted: Wanted | undefined,
  refused: Refused,
  take: (cell: number) => void,
): void {
  const verdicts = Array.from(unpacked(batch), (report) => judge(report, wanted));
  for (const verdict of verdicts)
    if (typeof verdict === "number") take(verdict);
    else refused[verdict]++;
}

function* unpacked(batch: Batch): Generator<unknown> {
  if (batch instanceof Uint8Array) {
    for (let at = 0; at + REPORT_BYTES <= batch.length; at += REPORT_BYTES) yield unpackReport(batch, at);
    if (batch.length % REPORT_BYTES !== 0) yield undefined; // cut short
    return;
  }
  if (typeof batch !== "object" || batch === null || !(Symbol.iterator in batch))
    throw new TypeError("reports: expected an iterable of reports, or their packed bytes");
  for (const item of batch as Iterable<unknown>)
    yield item instanceof Uint8Array ? (item.length === REPORT_BYTES ? unpackReport(item) : undefined) : item;
}

/** The report's cell, or the first thing that is wrong with it. Each field is read once. */
function judge(report: unknown, wanted: Wanted | undefined): number | keyof Refused {
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
