/** Numbers from text as it arrives, in pieces of any size: `textInput(stream, { format: "csv", column: "fare" })`. */
import { ownOptions, shown } from "../core/checks.js";
import { chooseData } from "../core/choose.js";
import type { Texts } from "../core/core.js";
import { TextError } from "./textError.js";
import { csvRows, itemLines, jsonLines, type OnRow, plainLines, type RecordReader } from "./textRecords.js";

export interface TextOptions {
  /** "plain": a number a line. "csv": a column of a table. "ndjson": a field of a JSON object a line. "fimi": how many items a line has. */
  readonly format: "plain" | "csv" | "ndjson" | "fimi";
  /** CSV: the column's name in the header, or its number from 1. NDJSON: the field's name; "a.b" is b inside a. */
  readonly column?: string | undefined;
  /** Between the fields of CSV: one of , ; | : or a tab. Default: a comma. */
  readonly delimiter?: string | undefined;
}

/** Bytes of the longest record; what is longer is refused before it fills the memory. */
const LONGEST = 2 ** 20;
/** Bytes a kernel reads at a time: they stay in the processor's cache, and so do their numbers. */
const WINDOW = 2 ** 16;
/** After a record that took care, the next window is this many times as long: others like it may follow. */
const WINDOW_GROWTH = 4;
/** An unfinished record above this length is looked at again only when it has grown by a sixteenth: linear time in all. */
const SHORT = 2 ** 12;

/** Bytes of text joined to an unfinished record at a time. */
const PIECE = 2 ** 17;

const NEWLINE = 10;
const DELIMITERS = [",", ";", "|", ":", "\t"];
const OPTIONS = ["format", "column", "delimiter"];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Everything that the text so far means for the text to come. */
interface State {
  readonly reader: RecordReader;
  /** Lines read. */
  readonly lines: number;
  /** The unfinished record. */
  readonly pending: Uint8Array;
  /** Whether anything was read: a byte order mark comes first. */
  readonly begun: boolean;
}

/** Turns pieces of text into numbers. A call that throws changes nothing. */
export class TextReader {
  readonly #core: Texts;
  /** Where a kernel writes; where numbers are gathered; where a piece is joined to what was left of the one before. */
  readonly #scratch = new Float64Array(WINDOW / 4);
  readonly #numbers = new Numbers();
  readonly #joined = new Uint8Array(2 * PIECE);
  #state: State;
  #busy = false;

  /** @param reader what it reads: {@link recordReader} makes one */
  constructor(reader: RecordReader, core: Texts = chooseData()) {
    this.#core = core;
    this.#state = { reader, lines: 0, pending: new Uint8Array(0), begun: false };
  }

  /**
   * Reads more text.
   * @param use gets the numbers that are complete now, for as long as it runs; if it throws, the text counts as not read
   */
  read<T>(bytes: Uint8Array, use: (numbers: Float64Array) => T): T {
    if (!(bytes instanceof Uint8Array))
      throw new TypeError("bytes: expected a Uint8Array; encode a string with TextEncoder first");
    const text = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length); // a Buffer's slice would be no copy
    return this.#step(use, (numbers) => {
      let state = this.#state;
      for (let at = 0; at < text.length; at += PIECE)
        state = this.#scan(state, text.subarray(at, at + PIECE), false, numbers);
      return state;
    });
  }

  /** Ends the text: `use` gets the number of a last record that no line's end follows. */
  end<T>(use: (numbers: Float64Array) => T): T {
    return this.#step(use, (numbers) => {
      const state = this.#state;
      return state.pending.length === 0 ? state : this.#scan(state, Uint8Array.of(NEWLINE), true, numbers);
    });
  }

  #step<T>(use: (numbers: Float64Array) => T, advance: (numbers: Numbers) => State): T {
    if (this.#busy) throw new TypeError("text: called from inside a call; wait until that one has returned");
    this.#busy = true;
    try {
      const state = advance(this.#numbers);
      const result = use(this.#numbers.all());
      this.#state = state;
      return result;
    } finally {
      this.#scratch.fill(0);
      this.#joined.fill(0);
      this.#numbers.wipe();
      this.#busy = false;
    }
  }

  /** @param last whether the text ends with this piece */
  #scan(state: State, piece: Uint8Array, last: boolean, numbers: Numbers): State {
    let { reader, lines } = state;
    const { pending } = state;
    const text = this.#join(pending, piece);
    let at = state.begun ? 0 : markLength(text, last);
    const waits = pending.length > SHORT && text.length < (17 / 16) * pending.length && !last;
    let window = WINDOW;
    while (at >= 0 && at < text.length && !waits) {
      const scan = reader.scan(this.#core, text.subarray(at, at + window), this.#scratch);
      numbers.add(this.#scratch.subarray(0, scan.count));
      at += scan.next;
      lines += scan.lines;
      window = Math.min(WINDOW, WINDOW_GROWTH * window);
      if (scan.next > 0) continue;
      const record = reader.read(text.subarray(at), lines + 1, last);
      if (record === undefined) break;
      if (record.value !== undefined) numbers.add(Float64Array.of(record.value));
      at += record.next;
      lines += record.lines;
      reader = record.then ?? reader;
      window = Math.min(WINDOW, WINDOW_GROWTH * record.next);
    }
    const read = Math.max(0, at);
    if (text.length - read > LONGEST)
      throw new TextError(`expected at most ${LONGEST} bytes in a record, got more`, lines + 1);
    // A record that only grows keeps its memory; what is left of others is copied out of memory that is used again.
    const grows = text.buffer !== piece.buffer && text.buffer !== this.#joined.buffer;
    const kept = read === 0 && grows ? text : text.slice(read);
    return { reader, lines, pending: kept, begun: state.begun || at >= 0 };
  }

  #join(pending: Uint8Array, piece: Uint8Array): Uint8Array {
    if (pending.length === 0) return piece;
    if (pending.length > piece.length) return append(pending, piece);
    this.#joined.set(pending);
    this.#joined.set(piece, pending.length);
    return this.#joined.subarray(0, pending.length + piece.length);
  }
}

/**
 * @param onRow gets the fields of every row of CSV; all rows are then read with care, which takes longer
 */
export function recordReader(options: TextOptions, onRow?: OnRow): RecordReader {
  const { format, column, delimiter = "," } = ownOptions("text", options, OPTIONS);
  if (format === "plain") return plainLines;
  if (format === "fimi") return itemLines;
  if (format === "csv") {
    if (!DELIMITERS.includes(delimiter))
      throw new RangeError(`delimiter: expected one of , ; | : or a tab, got ${shown(delimiter)}`);
    return csvRows(column, delimiter.charCodeAt(0), onRow);
  }
  if (format !== "ndjson")
    throw new RangeError(`format: expected "plain", "csv", "ndjson" or "fimi", got ${shown(format)}`);
  if (column === undefined)
    throw new TypeError("column: missing; expected the name of a field, because the format is ndjson");
  return jsonLines(column);
}

/** Bytes of the byte order mark that the text begins with; −1 if more text must come first. */
function markLength(text: Uint8Array, last: boolean): number {
  const same = BYTE_ORDER_MARK.findIndex((byte, i) => text[i] !== byte);
  if (same < 0) return BYTE_ORDER_MARK.length;
  return same === text.length && !last ? -1 : 0;
}

/** Pending text and a new piece as one array. Many small pieces take linear time in all: room for more is kept behind them. */
function append(pending: Uint8Array, piece: Uint8Array): Uint8Array {
  const length = pending.length + piece.length;
  if (pending.buffer.byteLength >= length) {
    const whole = new Uint8Array(pending.buffer, 0, length);
    whole.set(piece, pending.length);
    return whole;
  }
  const whole = new Uint8Array(2 * length);
  whole.set(pending);
  whole.set(piece, pending.length);
  return whole.subarray(0, length);
}

/** Numbers in an array that grows, and is used again. */
class Numbers {
  #values = new Float64Array(0);
  #length = 0;

  add(more: Float64Array): void {
    const length = this.#length + more.length;
    if (length > this.#values.length) {
      const larger = new Float64Array(Math.max(length, 2 * this.#values.length));
      larger.set(this.#values.subarray(0, this.#length));
      this.#values = larger;
    }
    this.#values.set(more, this.#length);
    this.#length = length;
  }

  all(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  /** Forgets them. */
  wipe(): void {
    this.#values.fill(0, 0, this.#length);
    this.#length = 0;
  }
}

/** Text into a stream. */
export interface TextInput<T> {
  /** Publishes the numbers that these bytes complete; a record may end in a later call. A call that throws changes nothing. */
  pushText(bytes: Uint8Array): T;
  /** Publishes a last record that no line's end follows. */
  end(): T;
}

/**
 * Pushes the numbers of a text into a stream as they arrive, in pieces of any size. What `pushMany` of the stream returns
 * comes back; if that is a promise that fails, begin a new input. A line that holds no number is refused by its line
 * number; the message quotes nothing.
 */
export function textInput<T>(
  sink: { pushMany(values: Float64Array): T },
  options: TextOptions,
): TextInput<T> {
  const reader = new TextReader(recordReader(options));
  const push = (numbers: Float64Array) => sink.pushMany(numbers.slice()); // a durable stream reads them later
  return { pushText: (bytes) => reader.read(bytes, push), end: () => reader.end(push) };
}
