/** Calls assembly/text*.ts: the text with its padding goes in, numbers come out, both are wiped. */
import type { Scan, Texts } from "../core.js";
import { TEXT_LINES, TEXT_NEXT, TEXT_PADDING, TEXT_PATTERN } from "../layout.js";
import { type Arena, type DataKernels, useArena } from "./instance.js";

const PADDING = new Uint8Array(TEXT_PADDING);
const NO_PATTERN = new Uint8Array(TEXT_PATTERN);

/** A kernel's call: on the text from `from` to `to`, with room for numbers, and for where it stopped. */
type Run = (arena: Arena, from: number, to: number, numbers: number, answer: number) => number;

export function text(kernels: DataKernels): Texts {
  const scan = (bytes: Uint8Array, out: Float64Array, run: Run): Scan =>
    useArena(kernels, (arena) => {
      const from = arena.take(bytes.length + TEXT_PADDING);
      arena.write(from, bytes);
      arena.write(from + bytes.length, PADDING);
      const numbers = arena.take(out.byteLength);
      const answer = arena.take(8);
      const count = run(arena, from, from + bytes.length, numbers, answer);
      arena.read(numbers, out.subarray(0, count));
      const words = new DataView(kernels.memory.buffer, answer);
      return { count, next: words.getUint32(TEXT_NEXT, true), lines: words.getUint32(TEXT_LINES, true) };
    });
  return {
    scanLines: (bytes, out) =>
      scan(bytes, out, (_, from, to, numbers, answer) =>
        kernels.scanLines(from, to, numbers, out.length, answer),
      ),
    scanCsv: (bytes, { delimiter, column, fields }, out) =>
      scan(bytes, out, (_, from, to, numbers, answer) =>
        kernels.scanCsv(from, to, delimiter, column, fields, numbers, out.length, answer),
      ),
    scanJson: (bytes, path, out) =>
      scan(bytes, out, (arena, from, to, numbers, answer) => {
        const names = arena.put(pathTable(path));
        const pattern = arena.put(NO_PATTERN);
        return kernels.scanJson(from, to, names, path.length, pattern, numbers, out.length, answer);
      }),
  };
}

/** Per name its length in bytes, then its bytes, up to the next whole word. */
function pathTable(path: readonly Uint8Array[]): Uint8Array {
  const sizes = path.map((name) => 4 + 4 * Math.ceil(name.length / 4));
  const table = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  path.forEach((name, i) => {
    new DataView(table.buffer).setUint32(at, name.length, true);
    table.set(name, at + 4);
    at += sizes[i]!;
  });
  return table;
}
