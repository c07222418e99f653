/**
 * Typed arrays of few numbers, side by side in buffers that they share: a buffer of its own costs each of them 150 bytes more,
 * and a hub has some for every key. A buffer is freed when all of its arrays are gone, so arrays that come and go together
 * have one of these.
 */
export class SmallArrays {
  #buffer = new ArrayBuffer(0);
  #used = 0;

  /** Zeros. More bytes than a small array has get a buffer of their own. */
  zeros<T>(Type: ArrayType<T>, length: number): T {
    const bytes = Type.BYTES_PER_ELEMENT * length;
    if (bytes > LARGEST) return new Type(length);
    if (this.#used + bytes > this.#buffer.byteLength) {
      this.#buffer = new ArrayBuffer(BLOCK); // never used twice: all zeros
      this.#used = 0;
    }
    const array = new Type(this.#buffer, this.#used, length);
    this.#used += 8 * Math.ceil(bytes / 8);
    return array;
  }
}

interface ArrayType<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): T;
  new (buffer: ArrayBuffer, from: number, length: number): T;
}

const BLOCK = 2 ** 13;
const LARGEST = 2 ** 7;
