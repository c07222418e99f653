/** How far the scanners of text go by themselves: a line that they leave to the careful reader is read ten times slower. */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";

describe.each(["wasm", "js"] as const)("%s", (core) => {
  test("objects with every form of number, before the one that is wanted and as that one", () => {
    const kernels = chooseCore(core);
    for (const number of ["0", "-7", "12.5", "1e5", "1E+5", "-2.5e-3", "0.25E2"]) {
      const bytes = new TextEncoder().encode(
        `{"a":${number},"x":${number}}\n{"x":${number},"b":[${number}]}\n`,
      );
      const out = new Float64Array(4);
      const scan = kernels.scanJson(bytes, [new TextEncoder().encode("x")], out);
      expect({ number, ...scan, out: [...out] }).toMatchObject({
        ...{ number, next: bytes.length, out: [Number(number), Number(number), 0, 0] },
      });
    }
  });

  const bytes = (text: string) => new TextEncoder().encode(text);
  /** How many lines are read of one that is certain, and one that may be like it. */
  const readBehind = (first: string, second: string) =>
    chooseCore(core).scanJson(bytes(`${first}\n${second}\n`), [bytes("x")], new Float64Array(2)).count;

  const LINE = '{"a":10,"s":"some text","w":true,"list":[1,"é"],"x":2.5,"end":"a name of many letters"}';
  test.each([
    LINE,
    LINE.replace("10", "0"),
    LINE.replace("10", "-1.5e3"),
    LINE.replace("10", "123456789.123456789"),
    LINE.replace("10", "12345678901234567890123"),
    LINE.replace("10", "12345678901234.5"),
    LINE.replace("10", '"a text"'),
    LINE.replace("some text", ""),
    LINE.replace("some text", 'a \\"quoted\\" text that is longer than sixteen bytes'),
    LINE.replace("true", "false"),
    LINE.replace("2.5", '"2.5"'),
    LINE.replace(",", " , "),
  ])("behind a line that is like it: %s", (line) => {
    expect(readBehind(LINE, line)).toBe(2);
  });

  test.each([
    LINE.replace("10", "010"),
    LINE.replace("10", "1."),
    LINE.replace("10", "1.e5"),
    LINE.replace("10", "1e"),
    LINE.replace("10", "+1"),
    LINE.replace("10", ""),
    LINE.replace("10", "123456789012345."),
    LINE.replace('text",', "text\\,"),
    LINE.replace('text",', "text\t,"),
    LINE.replace('text",', "text,"),
    LINE.replace('letters"', "letters"),
    LINE.replace("true", "tru"),
    LINE.replace("2.5", "02"),
    LINE.replace("2.5", '"2.5'),
    LINE.replace("2.5", '"none"'),
    LINE.replace('"x"', '"y"'),
    LINE.replace('"end"', '"x"'),
    LINE.replace("}", "]"),
    LINE.slice(0, -1),
    `${LINE},`,
  ])("not behind a line that is almost like it: %s", (line) => {
    expect(readBehind(LINE, line)).toBe(1);
  });

  test("a line of more values than a pattern holds, again and again", () => {
    const line = `{"x":7,"list":[${Array.from({ length: 200 }, (_, i) => i).join()}]}\n`;
    const out = new Float64Array(9);
    expect(chooseCore(core).scanJson(bytes(line.repeat(9)), [bytes("x")], out).count).toBe(9);
    expect([...out]).toEqual(new Array(9).fill(7));
  });
});
