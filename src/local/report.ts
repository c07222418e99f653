/** What leaves a device: a plain object, or the same in 8 bytes. It holds public parameters and one noisy cell. */

/** Version of the protocol: what the fields mean and how the grids are made. */
export const VERSION = 1;

export const PHASES = ["learn", "release"] as const;
export type Phase = (typeof PHASES)[number];

export interface Report {
  readonly version: number;
  readonly phase: Phase;
  /** Fingerprint of phase, ε and bound: a server takes reports from its own grid only. */
  readonly grid: number;
  /** The noisy value: a cell of the grid. */
  readonly cell: number;
}

/** Bytes of a packed report: version and phase (1), cell (3), grid (4); little-endian. */
export const REPORT_BYTES = 8;

/**
 * 32 bits that tell grids apart (FNV-1a): no secret, and no defence against a device that lies.
 * @param bound `max` when learning, θ when releasing
 */
export function gridOf(phase: Phase, epsilon: number, bound: number): number {
  const bytes = new DataView(new ArrayBuffer(17));
  bytes.setUint8(0, header(VERSION, phase));
  bytes.setFloat64(1, epsilon);
  bytes.setFloat64(9, bound);
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.byteLength; i++) hash = Math.imul(hash ^ bytes.getUint8(i), 0x01000193);
  return hash >>> 0;
}

/** The first byte of a packed report. */
export const header = (version: number, phase: Phase): number => (version << 4) | PHASES.indexOf(phase);

/** Writes a report at bytes[at…at + 7]. */
export function packReport(report: Report, bytes = new Uint8Array(REPORT_BYTES), at = 0): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, REPORT_BYTES);
  view.setUint32(0, ((report.cell << 8) | header(report.version, report.phase)) >>> 0, true);
  view.setUint32(4, report.grid, true);
  return bytes;
}

/** Reports of one phase and grid, end to end. */
export function packReports(phase: Phase, grid: number, cells: Uint32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(REPORT_BYTES * cells.length));
  const head = header(VERSION, phase);
  for (let i = 0; i < cells.length; i++) {
    view.setUint32(REPORT_BYTES * i, ((cells[i]! << 8) | head) >>> 0, true);
    view.setUint32(REPORT_BYTES * i + 4, grid, true);
  }
  return new Uint8Array(view.buffer);
}

/** The report at bytes[at…at + 7], or `undefined` if its phase is none. */
export function unpackReport(bytes: Uint8Array, at = 0): Report | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, REPORT_BYTES);
  const first = view.getUint32(0, true);
  const phase = PHASES[first & 15];
  if (phase === undefined) return undefined;
  return { version: (first >> 4) & 15, phase, grid: view.getUint32(4, true), cell: first >>> 8 };
}
