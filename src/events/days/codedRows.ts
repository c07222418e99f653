/**
 * Rows of integers, appended and never changed, in a code of variable length. Noise of scale t takes about log₂(2e·t) bits a
 * number: 4.1 at t = 3, where a typed array takes 8 and twice that as soon as one number is larger.
 *
 *     chunk  = k (5 bits) · whether every row has numbers (1), else one bit per row · numbers of these rows
 *     number = zigzag u: ⌊u/2^k⌋ in unary, or from 8 on eight ones and Elias' gamma code · k low bits (Golomb 1966, Rice 1979)
 *
 * Each chunk has the k that makes it shortest. A chunk with a number that is no integer below 2⁵⁰ holds doubles.
 */

/** Numbers of a chunk at least, and rows at most; both are powers of two. */
const CHUNK_NUMBERS = 64;
/** Numbers between two marks, about: where a read begins that goes on from no read before it. */
const MARKED_NUMBERS = 4096;
/** Bytes that are allocated ahead, for chunks of one row. */
const MOST_SPARE = 512;
/** Stands for k if numbers are doubles. */
const RAW = 31;
const UNARY = 8;
const LARGEST = 2 ** 50;
const NO_MARKS: readonly number[] = [];
const NO_BYTES = new Uint8Array(0);
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

export class CodedRows {
  // Parameters
  readonly #columns: number;
  /** Rows of a chunk, a power of two. */
  readonly chunk: number;
  // State
  #bytes = NO_BYTES;
  #bits = 0;
  #rows = 0;
  /** Where every so many rows begin, in bits; the first is left out. */
  #marks: readonly number[] = NO_MARKS;

  constructor(columns: number) {
    this.#columns = columns;
    this.chunk = chunkOf(columns);
  }

  /** Rows that were appended. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes that the numbers take. */
  get bytes(): number {
    return Math.ceil(this.#bits / 8);
  }

  /** Appends a chunk of rows. A row whose first number is NaN has no numbers. If it fails, nothing has changed. */
  append(values: Float64Array): void {
    const k = bestOrder(values);
    const whole = !values.some(Number.isNaN);
    const most = Math.ceil((this.#bits + 6 + (whole ? 0 : this.chunk) + sizeOf(values, k)) / 8);
    if (most > this.#bytes.length) {
      // Short chunks come often: room for some more of them.
      const wider = new Uint8Array(most + Math.min(most >> 4, MOST_SPARE / this.chunk));
      wider.set(this.#bytes);
      this.#bytes = wider;
    }
    if (this.#rows % this.#marked === 0 && this.#rows > 0) this.#marks = [...this.#marks, this.#bits];
    const writer = new BitWriter(this.#bytes, this.#bits);
    writer.write(k, 5);
    writer.write(whole ? 1 : 0, 1);
    for (let i = 0; i < values.length && !whole; i += this.#columns)
      writer.write(Number.isNaN(values[i]) ? 0 : 1, 1);
    for (let row = 0; row < values.length; row += this.#columns)
      if (!Number.isNaN(values[row]))
        for (let i = row; i < row + this.#columns; i++) writeNumber(writer, values[i]!, k);
    this.#bits = writer.at;
    this.#rows += this.chunk;
  }

  get #marked(): number {
    return Math.max(this.chunk, powerOfTwo(MARKED_NUMBERS / this.#columns));
  }

  /** Writes the numbers of a row; NaN if it has none. */
  read(row: number, out: Float64Array, at: number): void {
    const wanted = row - (row % this.chunk);
    if (decoded.of !== this || decoded.row !== wanted) this.#decodeTo(wanted);
    const first = (row - wanted) * this.#columns;
    for (let i = 0; i < this.#columns; i++) out[at + i] = decoded.values[first + i]!;
  }

  /** Decodes the chunk that begins with a row, from where the last read ended if that is nearer than a mark. */
  #decodeTo(row: number): void {
    const mark = Math.floor(row / this.#marked);
    let next = mark * this.#marked;
    let bit = mark === 0 ? 0 : this.#marks[mark - 1]!;
    if (decoded.of === this && decoded.row < row && decoded.row >= next)
      [next, bit] = [decoded.row + this.chunk, decoded.end];
    decoded.of = undefined; // a call that fails leaves nothing to rely on
    const length = this.chunk * this.#columns;
    if (decoded.values.length !== length) decoded.values = new Float64Array(length);
    for (; next <= row; next += this.chunk) bit = this.#decode(bit, decoded.values);
    Object.assign(decoded, { of: this, row, end: bit });
  }

  #decode(bit: number, out: Float64Array): number {
    const reader = new BitReader(this.#bytes, bit);
    const k = reader.read(5);
    const whole = reader.read(1) === 1;
    const present = Array.from({ length: this.chunk }, () => whole || reader.read(1) === 1);
    for (let row = 0; row < this.chunk; row++)
      for (let i = row * this.#columns; i < (row + 1) * this.#columns; i++)
        out[i] = present[row]! ? readNumber(reader, k) : NaN;
    return reader.at;
  }
}

/** The chunk that was decoded last: rows are mostly read in order. Numbers in it are published. */
const decoded = { of: undefined as CodedRows | undefined, row: 0, end: 0, values: new Float64Array(0) };

/** Rows of a chunk. */
export const chunkOf = (columns: number): number => powerOfTwo(CHUNK_NUMBERS / columns);

/** The least power of two that is not below a number. */
function powerOfTwo(least: number): number {
  let power = 1;
  while (power < least) power *= 2;
  return power;
}

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

/** Bits of a whole number from 1 on. */
const lengthOf = (n: number): number =>
  n < 2 ** 32 ? 32 - Math.clz32(n) : 64 - Math.clz32(Math.floor(n / 2 ** 32));

/** The order k under which these numbers take the fewest bits; the mean says where to look. */
function bestOrder(values: Float64Array): number {
  let [sum, count] = [0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (!Number.isInteger(value) || Math.abs(value) >= LARGEST) return RAW;
    sum += zigzag(value);
    count++;
  }
  if (count === 0) return 0;
  const middle = Math.min(RAW - 2, lengthOf(1 + Math.floor(sum / count)) - 1);
  let [best, least] = [middle, Infinity];
  for (let k = Math.max(0, middle - 2); k <= middle + 1; k++) {
    const size = sizeOf(values, k);
    if (size < least) [best, least] = [k, size];
  }
  return best;
}

function sizeOf(values: Float64Array, k: number): number {
  let bits = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (k === RAW) bits += 64;
    else {
      const q = Math.floor(zigzag(value) / 2 ** k);
      bits += k + (q < UNARY ? q + 1 : UNARY + 2 * lengthOf(q - UNARY + 1) - 1);
    }
  }
  return bits;
}

function writeNumber(writer: BitWriter, value: number, k: number): void {
  if (k === RAW) {
    double[0] = value;
    for (const byte of doubleBytes) writer.write(byte, 8);
    return;
  }
  const u = zigzag(value);
  const q = Math.floor(u / 2 ** k);
  if (q < UNARY)
    writer.write(2 ** (q + 1) - 2, q + 1); // q ones, then a zero
  else {
    const rest = q - UNARY + 1;
    const length = lengthOf(rest);
    writer.write(2 ** UNARY - 1, UNARY);
    writer.write(0, length - 1);
    writer.write(rest, length);
  }
  writer.write(u % 2 ** k, k);
}

function readNumber(reader: BitReader, k: number): number {
  if (k === RAW) {
    for (let i = 0; i < 8; i++) doubleBytes[i] = reader.read(8);
    return double[0]!;
  }
  let q = 0;
  while (q < UNARY && reader.read(1) === 1) q++;
  if (q === UNARY) {
    let length = 1;
    while (reader.read(1) === 0) length++;
    q += 2 ** (length - 1) + reader.read(length - 1) - 1;
  }
  const u = q * 2 ** k + reader.read(k);
  return u % 2 === 0 ? u / 2 : -(u + 1) / 2;
}

/** Writes whole numbers of up to 53 bits, the highest bit first. */
class BitWriter {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  write(value: number, bits: number): void {
    while (bits > 0) {
      const free = 8 - (this.at & 7);
      const take = Math.min(free, bits);
      bits -= take;
      const piece = Math.floor(value / 2 ** bits) % 2 ** take;
      const place = this.at >> 3;
      // What a failed call left behind is overwritten.
      this.#bytes[place] = (this.#bytes[place]! & -(1 << free)) | (piece << (free - take));
      this.at += take;
    }
  }
}

class BitReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  read(bits: number): number {
    let value = 0;
    while (bits > 0) {
      const left = 8 - (this.at & 7);
      const take = Math.min(left, bits);
      const piece = (this.#bytes[this.at >> 3]! >> (left - take)) & ((1 << take) - 1);
      value = value * 2 ** take + piece;
      this.at += take;
      bits -= take;
    }
    return value;
  }
}
