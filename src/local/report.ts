/** A report, all that leaves a device: a plain object, or the same in 8 bytes. It holds public parameters and one noisy cell. */
import { checkChoice, checkInteger } from "../core/checks.js";

/** Version of the protocol: what the fields mean and how the grids are made. */
export const VERSION = 2;

/** Phases of the paper's ToPL (`variant: "paper"`). */
export const PHASES = ["learn", "release"] as const;
export type Phase = (typeof PHASES)[number];

/** Number of a kind of report, in grids and in packed reports: 0 and 1 for the paper's phases, 2 for a day's window. */
export const kindOf = (phase: Phase | undefined): number =>
  phase === undefined ? PHASES.length : PHASES.indexOf(phase);

export interface Report {
  /** The version of the format; a server rejects other versions. */
  readonly version: number;
  /** With `variant: "paper"` alone. */
  readonly phase?: Phase;
  /** Fingerprint of kind, ε and bound: a server takes reports from its own grids only. */
  readonly grid: number;
  /** The noisy value: a cell of the grid. */
  readonly cell: number;
}

/** Bytes of a packed report: version and kind (1), cell (3), grid (4); little-endian. */
export const REPORT_BYTES = 8;

/**
 * 32 bits that tell grids apart (FNV-1a): no secret, and no defence against a device that lies.
 * @param bound upper end of the domain: θ, or `max` when learning
 */
export function gridOf(phase: Phase | undefined, epsilon: number, bound: number): number {
  const bytes = new DataView(new ArrayBuffer(17));
  bytes.setUint8(0, header(VERSION, phase));
  bytes.setFloat64(1, epsilon);
  bytes.setFloat64(9, bound);
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.byteLength; i++) hash = Math.imul(hash ^ bytes.getUint8(i), 0x01000193);
  return hash >>> 0;
}

/** The first byte of a packed report. */
export const header = (version: number, phase: Phase | undefined): number => (version << 4) | kindOf(phase);

function write(view: DataView, at: number, head: number, grid: number, cell: number): void {
  view.setUint32(at, ((cell << 8) | head) >>> 0, true);
  view.setUint32(at + 4, grid, true);
}

/** A report in 8 bytes. */
export function packReport(report: Report): Uint8Array {
  const version = checkInteger("version", report.version, 0, 15);
  const { phase } = report;
  const head = header(version, phase === undefined ? phase : checkChoice("phase", phase, PHASES));
  const grid = checkInteger("grid", report.grid, 0, 2 ** 32 - 1);
  const bytes = new Uint8Array(REPORT_BYTES);
  write(new DataView(bytes.buffer), 0, head, grid, checkInteger("cell", report.cell, 0, 2 ** 24 - 1));
  return bytes;
}

/** Reports of one kind and grid, end to end. @param bytes 8 for each cell */
export function packReports(
  phase: Phase | undefined,
  grid: number,
  cells: Uint32Array,
  bytes: Uint8Array,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const head = header(VERSION, phase);
  for (let i = 0; i < cells.length; i++) write(view, REPORT_BYTES * i, head, grid, cells[i]!);
}

/** The report at bytes[at…at + 7], or `undefined` if there is none. */
export function unpackReport(bytes: Uint8Array, at = 0): Report | undefined {
  if (!(at >= 0 && at + REPORT_BYTES <= bytes.length)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, REPORT_BYTES);
  const first = view.getUint32(0, true);
  const kind = first & 15;
  if (kind > PHASES.length) return undefined;
  return reportOf(PHASES[kind], view.getUint32(4, true), first >>> 8, (first >> 4) & 15);
}

export const reportOf = (phase: Phase | undefined, grid: number, cell: number, version = VERSION): Report =>
  phase === undefined ? { version, grid, cell } : { version, phase, grid, cell };
