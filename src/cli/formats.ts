/** Published numbers as bytes: lines of text, a table, or doubles. */
import { endianness } from "node:os";

export interface OutputFormat {
  /** Text before the first number. @param carried names of carried columns */
  head(carried: readonly string[]): string;
  /**
   * The bytes of a batch. A piece is valid until the next one is asked for.
   * @param carried per number, the fields that stand in front of it
   */
  pieces(published: Float64Array, carried: readonly (readonly string[])[]): Iterable<Uint8Array>;
}

/** Bytes, or characters, of a piece. */
const PIECE = 2 ** 20;
/** Lines are made here, one piece at a time. */
const buffer = Buffer.allocUnsafe(PIECE);

/** One number a line. Numbers repeat inside a block: each is formatted once, and copied. */
function* lines(published: Float64Array): Iterable<Uint8Array> {
  let at = 0;
  for (let i = 0; i < published.length;) {
    const value = published[i]!;
    const line = `${value}\n`;
    let end = i + 1;
    while (end < published.length && published[end] === value) end++;
    while (i < end) {
      if (at + line.length > buffer.length) {
        yield buffer.subarray(0, at);
        at = 0;
      }
      const copies = Math.min(end - i, Math.floor((buffer.length - at) / line.length));
      if (copies === 1) buffer.write(line, at, "latin1");
      else buffer.fill(line, at, at + copies * line.length, "latin1");
      at += copies * line.length;
      i += copies;
    }
  }
  if (at > 0) yield buffer.subarray(0, at);
}

/** Fields of CSV (RFC 4180): in quotes where they must be. */
const row = (cells: readonly string[]): string =>
  cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");

function* rows(published: Float64Array, carried: readonly (readonly string[])[]): Iterable<Uint8Array> {
  let text = "";
  for (const [i, cells] of carried.entries()) {
    text += `${row([...cells, String(published[i])])}\n`;
    if (text.length < PIECE && i + 1 < carried.length) continue;
    yield Buffer.from(text);
    text = "";
  }
}

export const OUTPUT_FORMATS: Readonly<Record<"plain" | "csv" | "f64", OutputFormat>> = {
  plain: { head: () => "", pieces: lines },
  csv: {
    head: (carried) => `${row([...carried, "published"])}\n`,
    pieces: (published, carried) => (carried.length === 0 ? lines(published) : rows(published, carried)),
  },
  /** Doubles of 8 bytes, least significant byte first. */
  f64: {
    head: () => "",
    pieces(published) {
      const bytes = Buffer.from(published.slice().buffer);
      return [endianness() === "BE" ? bytes.swap64() : bytes];
    },
  },
};
