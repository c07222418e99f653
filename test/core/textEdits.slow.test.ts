/**
 * Texts with every small fault: each byte of a text replaced, removed or put in, and many faults at once. Both cores read the
 * same numbers and stop at the same place, and what they read is what JSON.parse and Number make of it.
 */
import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import type { Core, Scan } from "../../src/core/core.js";

const cores = [chooseCore("wasm"), chooseCore("js")] as const;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const ROOM = 5;

type Reader = (core: Core, text: Uint8Array, out: Float64Array) => Scan;
/** Reads a text with both cores, which must agree. */
function read(reader: Reader, text: Uint8Array): { scan: Scan; numbers: number[] } {
  const [wasm, js] = cores.map((core) => {
    const out = new Float64Array(ROOM).fill(-77);
    const scan = reader(core, text, out);
    return { scan, numbers: [...out] };
  });
  if (!same(wasm!, js!)) expect({ text: new TextDecoder().decode(text), ...wasm }).toEqual({ text, ...js });
  return { scan: js!.scan, numbers: js!.numbers.slice(0, js!.scan.count) };
}

type Result = { scan: Scan; numbers: number[] };
const same = (a: Result, b: Result): boolean =>
  a.scan.count === b.scan.count &&
  a.scan.next === b.scan.next &&
  a.scan.lines === b.scan.lines &&
  a.numbers.every((x, i) => Object.is(x, b.numbers[i]));

/** Bytes that mean something in some format, and their neighbours. */
const BYTES = [
  ...[0, 1, 8, 9, 10, 11, 13, 14, 31, 32, 33, 34, 35, 43, 44, 45, 46, 47, 48, 49, 50, 57, 58, 59, 69, 91, 92],
  ...[93, 97, 98, 101, 102, 103, 110, 114, 116, 117, 122, 123, 125, 127, 128, 176, 195, 255],
];

function* edits(text: Uint8Array): Generator<Uint8Array> {
  for (let i = 0; i <= text.length; i++) {
    const [head, tail] = [text.subarray(0, i), text.subarray(i)];
    yield head;
    yield Uint8Array.from([...head, ...tail.subarray(1)]);
    for (const byte of BYTES) {
      yield Uint8Array.from([...head, byte, ...tail]);
      yield Uint8Array.from([...head, byte, ...tail.subarray(1)]);
    }
  }
}

/** Three faults at once, at random places. */
function* manyEdits(text: Uint8Array, count: number, seed: string): Generator<Uint8Array> {
  const random = seedrandom(seed);
  const below = (n: number) => Math.floor(random() * n);
  for (let k = 0; k < count; k++) {
    const list = [...text];
    for (let i = 0; i < 3; i++)
      list.splice(below(list.length + 1), below(3), ...(below(3) === 0 ? [] : [BYTES[below(BYTES.length)]!]));
    yield Uint8Array.from(list);
  }
}

const json =
  (...path: string[]): Reader =>
  (core, text, out) =>
    core.scanJson(text, path.map(bytesOf), out);
const csv =
  (column: number, fields: number, delimiter = ","): Reader =>
  (core, text, out) =>
    core.scanCsv(text, { delimiter: delimiter.charCodeAt(0), column, fields }, out);
const lines: Reader = (core, text, out) => core.scanLines(text, out);

const OBJECT = '{"x":12,"s":"a\\u00e9\\"b","w":[true,null,{"x":-0.5e1}],"f":false}\n';
const TEXTS: readonly (readonly [string, Reader, string])[] = [
  ["a number a line", lines, "0\n12\n3.5\n1234567\n12345678\n -7e2 \r\n"],
  ["long numbers", lines, "9007199254740991\n9007199254740993\n1e22\n0.00000000000000000001\n1e-22\n"],
  ["exponents", lines, "1e23\n12E+3\n.5\n5.\n-1e-23\n"],
  ["a column", csv(1, 3), 'a,1,"b ""c"", d"\n\n"x\ny",2.5,\r\n,"3",e\n'],
  ["the first column", csv(0, 2, ";"), '1;a\n"-2e1";"b;c"\n+3 ;\n'],
  ["the only column", csv(0, 1), '1\n"2"\n\r\n 3\n'],
  [
    "rows longer than sixteen bytes",
    csv(2, 3),
    'a long first field,"and a ""quoted"" one, here",17\nb,c,18\n',
  ],
  ["objects", json("x"), OBJECT],
  ["objects like the one before", json("x"), OBJECT + OBJECT.replace("12", "34.25")],
  ["a field in quotes", json("x"), '{"x":"1"}\n{"x":"2.5"}\n{"x": 3}\n'],
  ["a path", json("a", "long name", "x"), '{"b":[{}],"a":{"x":1,"long name":{"y":[],"x":7}}}\n'],
  ["long strings", json("x"), '{"a name that is long":"a text that is long, too","x":1.25}\n'.repeat(2)],
];

describe.each(TEXTS)("%s", (name, reader, text) => {
  const whole = bytesOf(text);

  test("every single fault", () => {
    for (const edited of edits(whole)) read(reader, edited);
  });

  test("many faults at once", () => {
    for (const edited of manyEdits(whole, 3000, name)) read(reader, edited);
  });

  test("behind a line without fault, every single fault", () => {
    for (const edited of edits(whole)) read(reader, Uint8Array.from([...whole, ...edited]));
  });
});

/** The number of a line by JSON.parse; undefined unless it is an object with a number as `x`. */
function byThePlatform(line: string): number | undefined {
  try {
    const { x } = JSON.parse(line) as { x?: unknown };
    return typeof x === "number" ? x : typeof x === "string" && x.trim() !== "" ? Number(x) : undefined;
  } catch {
    return undefined;
  }
}

test("what is read of objects is what JSON.parse says, and of lines what Number says", () => {
  let found = 0;
  for (const edited of edits(bytesOf(OBJECT))) {
    const { scan, numbers } = read(json("x"), edited);
    if (scan.count === 0) continue;
    found++;
    expect(numbers[0]).toBe(byThePlatform(new TextDecoder().decode(edited).split("\n")[0]!));
  }
  expect(found).toBeGreaterThan(1000);
  for (const text of ["-12.5e3\n", "1234567\n", "00012345678901234\n", "4503599627370497.5\n"])
    for (const edited of edits(bytesOf(text))) {
      const { scan, numbers } = read(lines, edited);
      if (scan.count > 0) expect(numbers[0]).toBe(Number(new TextDecoder().decode(edited).split("\n")[0]));
    }
});

test("a line that differs from the one before in all its parts is not like it", () => {
  for (const [first, second] of [
    ['{"x":1}', '["x":2]'],
    ['{"x":1,"y":2}', '["x":3;"y":4]'],
    ['{"a name of sixteen":"text","x":1}', '["another one, as long":"text";"y":1]'],
    ['{"seventeen bytes!":5,"x":1}', '{"seventeen bytes?":5,"x":1}'],
  ])
    for (const line of [second!, first!.replace('"x"', '"y"')])
      expect(read(json("x"), bytesOf(`${first}\n${line}\n`)).scan.count).toBe(
        byThePlatform(line) === undefined ? 1 : 2,
      );
});

test("objects as deep as they may be, and one deeper", () => {
  const deep = (levels: number) => `{"x":1,"y":${"[".repeat(levels)}${"]".repeat(levels)}}\n`;
  const inObjects = (levels: number) => `{"x":1,"y":${'{"x":'.repeat(levels)}2${"}".repeat(levels)}}\n`;
  for (const text of [deep, inObjects])
    expect([30, 31, 32, 33].map((levels) => read(json("x"), bytesOf(text(levels))).scan.count)).toEqual([
      ...[1, 1, 0, 0],
    ]);
});

test("the objects of a path count among those inside each other", () => {
  const lists = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const text = (levels: number) => `{"a":{"b":{"y":${lists(levels)},"x":5}}}\n`;
  const counts = [27, 28, 29, 30, 31].map((n) => read(json("a", "b", "x"), bytesOf(text(n))).scan.count);
  expect(counts).toEqual([1, 1, 1, 0, 0]);
  const path = Array.from({ length: 33 }, (_, i) => `n${i}`);
  const nested = (levels: number) =>
    `${path.slice(0, levels).reduce((head, name) => `${head}{"${name}":`, "")}7${"}".repeat(levels)}\n`;
  expect([31, 32, 33].map((n) => read(json(...path.slice(0, n)), bytesOf(nested(n))).scan.count)).toEqual([
    ...[1, 1, 0],
  ]);
});

test("no more numbers than there is room for, and lines unlike the one before for ever", () => {
  const unlike = Array.from({ length: 40 }, (_, i) => `{"${"n".repeat(i % 3)}":${i},"x":${i}}\n`).join("");
  for (const core of cores) {
    const out = new Float64Array(40).fill(-1);
    expect(core.scanJson(bytesOf(unlike), [bytesOf("x")], out)).toEqual({
      ...{ count: 40, lines: 40, next: unlike.length },
    });
    expect([...out]).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(core.scanLines(bytesOf("1\n2\n3\n"), new Float64Array(2))).toEqual({
      count: 2,
      lines: 2,
      next: 4,
    });
    expect(core.scanLines(bytesOf("1\n2\n3\n"), new Float64Array(0))).toEqual({
      count: 0,
      lines: 0,
      next: 0,
    });
  }
});
