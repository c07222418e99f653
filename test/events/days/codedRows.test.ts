import { describe, expect, test } from "vitest";
import { jsNoise } from "../../../src/core/js/index.js";
import { subStream } from "../../../src/core/random.js";
import { CodedRows } from "../../../src/events/days/codedRows.js";
import { noiseScale } from "../../../src/stream/release/forest.js";

const EDGES = [0, 1, -1, 7, 8, -8, 127, -128, 2 ** 15, 2 ** 31 - 1, -(2 ** 31), 2 ** 32, 2 ** 41, -(2 ** 49)];

/** Chunks of rows that a fixed generator makes: small numbers, some large, some rows without any. */
function chunksOf(columns: number, count: number, odd: number): Float64Array[] {
  const { chunk } = new CodedRows(columns);
  let state = 12345;
  const next = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  return Array.from({ length: count }, () => {
    const values = new Float64Array(chunk * columns);
    for (let row = 0; row < chunk; row++) {
      const absent = next() < 0.2;
      for (let i = 0; i < columns; i++)
        values[row * columns + i] = absent
          ? NaN
          : next() < odd
            ? EDGES[Math.floor(next() * EDGES.length)]!
            : Math.floor(next() * 9) - 4;
    }
    return values;
  });
}

const rowOf = (rows: CodedRows, columns: number, row: number): number[] => {
  const out = new Float64Array(columns + 1).fill(99);
  rows.read(row, out, 1);
  expect(out[0]).toBe(99);
  return Array.from(out.subarray(1));
};

describe.each([1, 2, 3, 40, 66, 1024])("%d columns", (columns) => {
  test.each([0, 0.02, 0.5])("every row is read back, in any order; %f of the numbers are large", (odd) => {
    const rows = new CodedRows(columns);
    const chunks = chunksOf(columns, columns > 100 ? 9 : 70, odd);
    const expected: number[][] = [];
    const other = new CodedRows(columns);
    for (const chunk of chunks) {
      rows.append(chunk);
      other.append(chunk.map((value) => -value));
      for (let row = 0; row < rows.chunk; row++)
        expected.push(Array.from(chunk.subarray(row * columns, (row + 1) * columns)));
      const last = expected.length - 1;
      expect(rowOf(rows, columns, last)).toEqual(expected[last]); // between two appends
    }
    expect(rows.rows).toBe(expected.length);
    for (let row = 0; row < expected.length; row++)
      expect(rowOf(rows, columns, row), `row ${row}`).toEqual(expected[row]);
    for (let i = 0; i < 60; i++) {
      const row = (i * 7919) % expected.length;
      expect(rowOf(rows, columns, row)).toEqual(expected[row]);
      if (i % 3 === 0) rowOf(other, columns, (row * 31) % expected.length); // rows of another key meanwhile
    }
  });
});

test("numbers that are no integers, or too large for exact sums, are kept as they are", () => {
  const rows = new CodedRows(2);
  const values = new Float64Array(2 * rows.chunk).map((_, i) => i);
  values.set([0.5, 2 ** 52, NaN, NaN, -(2 ** 60), -0.125]);
  rows.append(values);
  for (let row = 0; row < rows.chunk; row++)
    expect(rowOf(rows, 2, row)).toEqual(Array.from(values.subarray(2 * row, 2 * row + 2)));
});

test("noise of scale 3 takes less than 4.4 bits a number", () => {
  // 4.01 bits are its entropy. 1,408 rows of 66 columns: 92,928 numbers, fixed by the seed.
  const columns = 66;
  const rows = new CodedRows(columns);
  const noise = new Float64Array(columns);
  for (let row = 0; row < 1408; row++) {
    const random = subStream(new Uint32Array(8), 1, 0, row);
    jsNoise.laplace(random, noiseScale(3, 1, 1, 32), noise);
    rows.append(noise);
  }
  expect((8 * rows.bytes) / (1408 * columns)).toBeLessThan(4.4);
});
