/** The bytes of a file store: appends of a log, and the folder of its files. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeAppend, readAppends } from "../../src/durable/stores/log.js";
import { LogFolder } from "../../src/durable/stores/logFolder.js";
import { temporaryFolders } from "./support.js";

const folder = temporaryFolders();
const bytesOf = (...numbers: number[]) => Uint8Array.from(numbers);

describe("appends of a log", () => {
  const records = [
    { name: "é", sequence: 7, bytes: bytesOf(1, 2, 3) },
    { name: "gone", sequence: 0 },
    { name: "", sequence: 2 ** 40, bytes: bytesOf(9) },
  ];

  /** The format, as log.ts prints it. */
  function written(): Buffer {
    const content = Buffer.concat(
      records.flatMap(({ name, sequence, bytes = bytesOf() }) => {
        const [text, head, number, tail] = [
          Buffer.from(name),
          Buffer.alloc(4),
          Buffer.alloc(8),
          Buffer.alloc(4),
        ];
        head.writeUInt32LE(text.length);
        number.writeDoubleLE(sequence);
        tail.writeUInt32LE(bytes.length);
        return [head, text, number, tail, Buffer.from(bytes)];
      }),
    );
    const size = Buffer.alloc(8);
    size.writeDoubleLE(content.length);
    return Buffer.concat([size, createHash("sha256").update(content).digest(), content]);
  }

  test("stand as the format says, and say where", () => {
    const { bytes, append } = encodeAppend(records, 1000);
    expect(bytes).toEqual(written());
    expect(append.end).toBe(1000 + bytes.length);
    expect(append.entries.map(({ name, sequence, length }) => [name, sequence, length])).toEqual([
      ["é", 7, 3],
      ["gone", 0, 0],
      ["", 2 ** 40, 1],
    ]);
    for (const [i, { start, length }] of append.entries.entries())
      expect(bytes.subarray(start - 1000, start - 1000 + length)).toEqual(
        Buffer.from(records[i]!.bytes ?? []),
      );
  });

  test("are read back, one after the other, up to the first that is not complete", () => {
    const first = encodeAppend(records, 500);
    const second = encodeAppend([{ name: "b", sequence: 1, bytes: bytesOf(5) }], first.append.end);
    const empty = encodeAppend([], second.append.end);
    const whole = Buffer.concat([first.bytes, second.bytes, empty.bytes]);
    expect(readAppends(whole, 500)).toEqual([first.append, second.append, empty.append]);
    expect(readAppends(whole.subarray(0, -1), 500)).toHaveLength(2);
    expect(readAppends(Buffer.concat([whole, Buffer.alloc(39)]), 500)).toHaveLength(3);
    const from = first.bytes.length;
    const wrong = (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(whole);
      change(copy);
      return readAppends(copy, 500).length;
    };
    for (const size of [-1, 0.5, NaN, Infinity, second.bytes.length - 41, 2 ** 40])
      expect(wrong((copy) => copy.writeDoubleLE(size, from))).toBe(1);
    for (const at of [from + 8, from + 39, from + 40]) expect(wrong((copy) => (copy[at]! ^= 1))).toBe(1);
  });
});

describe("a folder of logs", () => {
  test("numbers its files, and reads any piece of them", async () => {
    const place = folder();
    const logs = new LogFolder(place);
    expect([await logs.numbers(), await logs.newest()]).toEqual([[], 0]);
    for (const number of [2, 10, 1]) expect(await logs.create(number)).toBe(true);
    expect(await logs.create(2)).toBe(false);
    for (const other of ["3.log.old", "x4.log", "5.txt"]) writeFileSync(join(place, other), "");
    expect([await logs.numbers(), await logs.newest()]).toEqual([[1, 2, 10], 10]);
    expect(statSync(join(place, "2.log")).mode & 0o777).toBe(0o600);
    expect(await logs.append(2, bytesOf(1, 2, 3, 4), 0)).toBe(true);
    expect(await logs.append(2, bytesOf(5, 6), 4)).toBe(true);
    expect([...readFileSync(join(place, "2.log"))]).toEqual([1, 2, 3, 4, 5, 6]);
    const piece = async (start: number, end?: number) => [...(await logs.read(2, start, end))!];
    expect([await piece(0), await piece(4), await piece(1, 3), await piece(5, 99), await piece(7)]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [5, 6],
      [2, 3],
      [6],
      [],
    ]);
    for (const end of [5, 7]) expect(await logs.append(2, bytesOf(1), end)).toBe(false); // others went on with 10
    await logs.append(10, bytesOf(1, 2, 3, 4, 5, 6), 0);
    for (const end of [5, 7])
      await expect(logs.append(10, bytesOf(1), end)).rejects.toThrow(
        "fileStore: another program changed the folder of this store; open the streams again",
      );
    truncateSync(join(place, "10.log"), 5);
    await expect(logs.append(10, bytesOf(1), 6)).rejects.toThrow("another program changed");
    await logs.remove(2);
    await logs.remove(2);
    expect([await logs.read(2, 0), await logs.append(2, bytesOf(1), 0), await logs.numbers()]).toEqual([
      ...[undefined, false, [1, 10]],
    ]);
    await logs.flush(2);
    await logs.flushNames();
  });

  test("what is no missing file is an error", async () => {
    const place = folder();
    writeFileSync(place, "");
    await expect(new LogFolder(place).numbers()).rejects.toThrow("ENOTDIR");
    const logs = new LogFolder(folder());
    await expect(logs.flushNames()).rejects.toThrow("ENOENT");
    const other = folder();
    mkdirSync(join(other, "7.log"), { recursive: true });
    await expect(new LogFolder(other).append(7, bytesOf(1), 0)).rejects.toThrow("EISDIR");
    await expect(new LogFolder(other).remove(7)).rejects.toThrow();
  });
});
