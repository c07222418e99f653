/** Numbers from text: the fast reader against one written for the eye, on friendly and hostile texts in pieces. */
import { parse } from "csv-parse/sync";
import seedrandom from "seedrandom";
import { describe, expect, test } from "vitest";
import { recordReader, type TextOptions, TextReader } from "../../src/adapters/textInput.js";
import { jsCore } from "../../src/core/js/index.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { carefulText } from "../support/carefulText.js";

const CORES = [makeWasmCore(), jsCore];
const encode = (text: string) => new TextEncoder().encode(text);

/** All numbers, or the message: the text cut into pieces of the lengths that `cut` gives. */
function readText(bytes: Uint8Array, options: TextOptions, core = CORES[0]!, cut = () => Infinity) {
  const all: number[] = [];
  const keep = (numbers: Float64Array) => void all.push(...numbers);
  try {
    const reader = new TextReader(recordReader(options), core);
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + cut());
      reader.read(bytes.subarray(at, end), keep);
      at = end;
    }
    reader.end(keep);
    return all;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("worked by hand", () => {
  const cases: [text: string, options: TextOptions, numbers: number[] | string][] = [
    ["1\n-2.5\n 3e2 \r\n0x10\n.5", { format: "plain" }, [1, -2.5, 300, 16, 0.5]],
    ["1\n\n", { format: "plain" }, "line 2: expected a finite number, got nothing"],
    ['t,"a ""b"""\n1,2\r\n\n"3\n","4"\n5,6', { format: "csv", column: 'a "b"' }, [2, 4, 6]],
    ["1;2\n3;4\n", { format: "csv", column: "2", delimiter: ";" }, [2, 4]],
    ['a,b\n1,2\n"x\ny",z\n', { format: "csv", column: "b" }, "line 4: expected a finite number in column 2"],
    [
      'a,b\n1,2\n"x\ny\n',
      { format: "csv", column: "b" },
      "line 3, column 1: expected valid CSV, got a quote that is never closed",
    ],
    ['{"x":{"y":"7"}}\n{"x":{"y":8,"z":[{}]}}', { format: "ndjson", column: "x.y" }, [7, 8]],
    ['{"x":1,"x":2}\n{"\\u0078":3}\n', { format: "ndjson", column: "x" }, [2, 3]],
    ['{"x":1e999}\n', { format: "ndjson", column: "x" }, 'line 1: field "x" is not a number'],
    ['{"y":"\\b\\f\\n\\r\\t\\/\\\\\\"\\u12aF","x":4}\n', { format: "ndjson", column: "x" }, [4]],
    ['{"y":"\\u12g4","x":4}\n', { format: "ndjson", column: "x" }, "line 1: expected a JSON object"],
    ['{"y":"\\u12","x":4}\n', { format: "ndjson", column: "x" }, "line 1: expected a JSON object"],
    ['{"y":"\\x","x":4}\n', { format: "ndjson", column: "x" }, "line 1: expected a JSON object"],
    ["1 2 3\n4\n", { format: "fimi" }, [3, 1]],
  ];
  test.each(cases)("%j", (text, options, numbers) => {
    for (const core of CORES)
      for (const size of [1, 3, Infinity])
        expect(readText(encode(text), options, core, () => size)).toEqual(numbers);
    expect(carefulText(encode(text), options)).toEqual(numbers);
  });
});

describe("decimal to double", () => {
  const agrees = (texts: string[]) => {
    const bytes = encode(`${texts.join("\n")}\n`);
    CORES.forEach((core, place) => {
      const numbers = readText(bytes, { format: "plain" }, core) as number[];
      texts.forEach((text, i) => {
        if (!Object.is(numbers[i], Number(text)))
          expect([text, numbers[i], place]).toEqual([text, Number(text), place]);
      });
    });
  };

  test("every exponent around the ends of the exact path, with digits around 2⁵³", () => {
    const digits = [
      0n,
      1n,
      5n,
      9n,
      2n ** 52n + 1n,
      2n ** 53n - 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      10n ** 16n + 1n,
    ];
    const texts: string[] = [];
    for (const w of digits)
      for (let exponent = -45; exponent <= 45; exponent++)
        for (const sign of ["", "-", "+"])
          texts.push(
            `${sign}${w}e${exponent}`,
            `${sign}0.${w}E+${Math.abs(exponent)}`,
            `${sign}00${w}.0e${exponent}`,
          );
    agrees(texts);
  });

  test("every place of the point, up to 21 digits", () => {
    const random = seedrandom("points");
    const texts: string[] = [];
    for (let length = 1; length <= 21; length++)
      for (let point = 0; point <= length; point++)
        for (let i = 0; i < 20; i++) {
          const digits = Array.from({ length }, () => Math.floor(random() * 10)).join("");
          texts.push(`${digits.slice(0, point)}.${digits.slice(point)}`);
        }
    agrees(texts);
  });

  test("100,000 doubles as JavaScript prints them, of every size", () => {
    const random = seedrandom("doubles");
    const words = new Uint32Array(2);
    const value = new Float64Array(words.buffer);
    agrees(
      Array.from({ length: 100_000 }, (_, i) => {
        if (i % 2 === 0)
          return String(Number((random() * 10 ** Math.floor(random() * 12)).toPrecision(1 + (i % 17))));
        words.set([random.int32() >>> 0, random.int32() >>> 0]);
        return Number.isFinite(value[0]) ? String(value[0]) : "0";
      }),
    );
  });
});

/** −0 is not 0. */
const same = (a: number[] | string, b: number[] | string): boolean =>
  typeof a === "string" || typeof b === "string"
    ? a === b
    : a.length === b.length && a.every((value, i) => Object.is(value, b[i]));

/** Texts made of what breaks parsers, and of what they should read. */
function hostileText(random: seedrandom.PRNG, { format, column }: TextOptions): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const number = () =>
    pick([
      "0",
      "7",
      "-3",
      "12.50",
      "1e3",
      " 5",
      "6 ",
      "+8",
      "007",
      ".5",
      "5.",
      "9007199254740993",
      "1e-7",
      "0x1F",
      "123456789012345678901",
      "-0",
      "1e23",
    ]);
  const end = pick(["\n", "\r\n"]);
  const string = () =>
    pick(["a", "", "\\u0041", "\\n", "é", '\\"', "a b", "x", "\\\\", "日本", "long ".repeat(9)]);
  const value = (depth: number): string =>
    pick([
      () => (random() < 0.03 ? number() : pick(["0", "-1.5e3", "10"])),
      () => `"${string()}"`,
      () => pick(["true", "false", "null", "[]", "{}"]),
      () => (depth > 3 ? "1" : `[${[value(depth + 1), value(depth + 1)].join(pick([",", " , "]))}]`),
      () => (depth > 3 ? "1" : `{"${string()}":${value(depth + 1)},"x":${value(depth + 1)}}`),
    ])();
  const rows = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, i) => {
    if (format === "csv") {
      const cell = pick([
        number,
        number,
        () => `"${number()}"`,
        () => pick(['"a ""b"""', '"x\ny"', "é", "", '""', " "]),
      ]);
      return i === 0 && random() < 0.7 ? "a,x" : `${cell()},${random() < 0.9 ? number() : `"${number()}"`}`;
    }
    if (format === "ndjson") {
      const field = () =>
        pick([
          () => `"${number()}"`,
          () => pick(["1", "-2.5", "3e2", "0", "12345678.25"]),
          () => pick(["1", "2"]),
        ])();
      const nested = column === "x.y" ? `{"a":1,"y":${field()}}` : field();
      return pick([
        () => `{"x":${nested}}`,
        () => `{"a":${value(0)},"x":${nested},"b":${value(0)}}`,
        () => ` { "a" : ${value(0)} , "x" : ${nested} }\t`,
        () => `{"x":${value(0)},"x":${nested}}`,
      ])();
    }
    return format === "fimi" && random() < 0.05 ? " " : number();
  });
  if (format === "ndjson" && random() < 0.5) {
    // Lines that are like the first one but for their values, as most files have them.
    const scalar = () =>
      random() < 0.1 ? number() : pick(["0", "31", "-1.5e3", "0.25", `"${string()}"`, "true", "null"]);
    const alike = () =>
      rows[0]!.replace(/-?\d[\d.e]*|"(?:[^"\\]|\\.)*"(?!\s*:)|true|false|null/g, (old) =>
        random() < 0.6
          ? old
          : /^"\d*"$/.test(old)
            ? `"${number()}"`
            : /^-?\d/.test(old)
              ? String(Math.floor(random() * 1e4) / 10)
              : scalar(),
      );
    for (let i = 1; i < rows.length; i++) if (random() < 0.9) rows[i] = alike();
  }
  let text = rows.join(end) + pick(["", end]);
  for (let faults = random() < 0.5 ? 0 : Math.floor(random() * 3); faults > 0; faults--) {
    const at = Math.floor(random() * text.length);
    const part = pick([
      '"',
      ",",
      "\n",
      "\r",
      "\0",
      "{",
      "}",
      "\\",
      "é",
      "\uFEFF",
      "1e999",
      '""',
      " ",
      "x",
      "]",
      ":",
      "-",
      "\uFFFD",
    ]);
    text = text.slice(0, at) + part + text.slice(at + Math.floor(random() * 3));
  }
  return random() < 0.1 ? `\uFEFF${text}` : text;
}

test.each([
  ["plain", undefined],
  ["csv", "x"],
  ["csv", "2"],
  ["ndjson", "x"],
  ["ndjson", "x.y"],
  ["fimi", undefined],
] as const)(
  "hostile %s (%s): same numbers, same refusals as the careful reader, in any pieces",
  (format, column) => {
    const random = seedrandom(`${format} ${column}`);
    const options = { format, column };
    let refused = 0;
    const ROUNDS = 1500;
    for (let i = 0; i < ROUNDS; i++) {
      const bytes = encode(hostileText(random, options));
      if (random() < 0.1) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256); // broken UTF-8
      const expected = carefulText(bytes, options);
      if (typeof expected === "string") refused++;
      for (const core of CORES) {
        const most = 1 + Math.floor(random() * 40);
        for (const cut of [() => Infinity, () => 1 + Math.floor(random() * most)]) {
          const got = readText(bytes, options, core, cut);
          if (!same(got, expected))
            expect([new TextDecoder().decode(bytes), got]).toEqual([
              new TextDecoder().decode(bytes),
              expected,
            ]);
        }
      }
    }
    expect(refused).toBeGreaterThan(ROUNDS / 20);
    expect(refused).toBeLessThan((19 * ROUNDS) / 20);
  },
);

test("valid tables mean what they mean to another reader of CSV", () => {
  const random = seedrandom("other reader");
  for (let i = 0; i < 300; i++) {
    const rows = Array.from({ length: 20 }, () =>
      [
        String(Math.floor(random() * 1e6) / 100),
        ...Array.from(
          { length: 3 },
          () => ["é", 'a "quoted" word', "two\nlines", "a;b,c", "", "7"][Math.floor(random() * 6)]!,
        ),
      ].map((cell) => (/["\n;,]/.test(cell) || random() < 0.3 ? `"${cell.replaceAll('"', '""')}"` : cell)),
    );
    for (const delimiter of [",", ";"]) {
      const text = ["v,b,c,d".replaceAll(",", delimiter), ...rows.map((row) => row.join(delimiter))].join(
        "\r\n",
      );
      const table: string[][] = parse(text, { delimiter, from: 2 });
      const others = table.map(([first]) => Number(first));
      for (const core of CORES)
        expect(readText(encode(text), { format: "csv", column: "v", delimiter }, core)).toEqual(others);
    }
  }
});
