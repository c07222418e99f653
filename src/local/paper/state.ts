/** Everything that an aggregator knows, as bytes: its tally, how many values it published, and the cells it still keeps. */
import { TALLY_BYTES } from "./tally.js";

export interface LocalState {
  readonly tally: Uint8Array;
  /** Values published. */
  readonly length: number;
  /** Cells of the last ones. */
  readonly cells: Uint32Array;
}

const CELLS_AT = TALLY_BYTES + 8;

/** As long as the numbers of reports and `history` make it, whatever the reports say. */
export function encodeLocalState({ tally, length, cells }: LocalState): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(CELLS_AT + 4 * cells.length);
  bytes.set(tally);
  const view = new DataView(bytes.buffer);
  view.setFloat64(TALLY_BYTES, length, true);
  for (let i = 0; i < cells.length; i++) view.setUint32(CELLS_AT + 4 * i, cells[i]!, true);
  return bytes;
}

export function decodeLocalState(bytes: Uint8Array): LocalState {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cells = new Uint32Array((bytes.length - CELLS_AT) / 4);
  for (let i = 0; i < cells.length; i++) cells[i] = view.getUint32(CELLS_AT + 4 * i, true);
  return { tally: bytes.subarray(0, TALLY_BYTES), length: view.getFloat64(TALLY_BYTES, true), cells };
}
