/** A text that holds something else than numbers: the message names the place, and quotes nothing of the text. */
export class TextError extends TypeError {
  /** From 1. */
  readonly line: number;
  /** From 1, where a field of CSV is at fault. */
  readonly column: number | undefined;

  constructor(fault: string, line: number, column?: number) {
    super(`line ${line}${column === undefined ? "" : `, column ${column}`}: ${fault}`);
    this.name = "TextError";
    this.line = line;
    this.column = column;
  }
}
