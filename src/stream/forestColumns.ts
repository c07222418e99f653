/** The columns that remember the blocks of one forest (history.ts). */
import { Column } from "./growable.js";

export interface Columns {
  /** prefix[k]: sum of the first k estimates of a forest. */
  readonly prefix: Column;
  /** perValue[k]: what every position of block k but its last published. */
  readonly perValue: Column;
  /** held[k]: what sums up to the end of block k hold back of the estimates; none if the smoother never does. */
  readonly held: Column | undefined;
}

/**
 * @param most blocks of a forest
 * @param blocks there is room for as many
 */
export function makeColumns(most: number, holdsBack: boolean, blocks: number): Columns {
  const columns = {
    prefix: new Column(most + 1),
    perValue: new Column(most),
    held: holdsBack ? new Column(most) : undefined,
  };
  reserveBlocks(columns, blocks);
  return columns;
}

/** Makes room for `blocks` in all. If there is no memory it fails, and nothing is lost. */
export function reserveBlocks({ prefix, perValue, held }: Columns, blocks: number): void {
  held?.reserve(blocks); // first: it has at least the room of `perValue`
  prefix.reserve(blocks + 1);
  perValue.reserve(blocks);
}

/** How many blocks there is room for. */
export const roomOf = ({ prefix, perValue }: Columns): number => Math.min(perValue.room, prefix.room - 1);
