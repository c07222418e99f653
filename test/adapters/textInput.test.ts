/** The contract of the text reader. */
import { describe, expect, test } from "vitest";
import { recordReader, textInput, type TextOptions, TextReader } from "../../src/adapters/textInput.js";
import { TextError } from "../../src/adapters/textError.js";
import { privateStream } from "../../src/index.js";

const encode = (text: string) => new TextEncoder().encode(text);

describe("what a caller relies on", () => {
  test("a refused piece changes nothing: the text continues after the piece before it", () => {
    const reader = new TextReader(recordReader({ format: "plain" }));
    const numbers: number[] = [];
    const keep = (more: Float64Array) => void numbers.push(...more);
    reader.read(encode("1\n2"), keep);
    expect(() => reader.read(encode("0\nx\n"), keep)).toThrow(new TextError("expected a finite number", 3));
    expect(() =>
      reader.read(encode("1\n"), () => {
        throw new Error("no room");
      }),
    ).toThrow("no room");
    reader.read(encode("3\n4"), keep);
    reader.end(keep);
    expect(numbers).toEqual([1, 23, 4]);
  });

  test("re-entry is an error", () => {
    const reader = new TextReader(recordReader({ format: "plain" }));
    expect(() => reader.read(encode("1\n"), () => reader.end(() => undefined))).toThrow(
      "text: called from inside",
    );
  });

  test.each(["plain", "csv", "ndjson"] as const)(
    "a record without end is refused, in linear time: %s",
    (format) => {
      const reader = new TextReader(recordReader({ format, column: format === "plain" ? undefined : "x" }));
      const ignore = () => undefined;
      if (format === "csv") reader.read(encode('x\n"'), ignore);
      const piece = encode("1".repeat(64));
      expect(() => {
        for (let i = 0; i < 2 ** 15; i++) reader.read(piece, ignore);
      }).toThrow("expected at most 1048576 bytes in a record");
    },
  );

  test("pushText publishes what pushMany publishes", () => {
    const options = { epsilon: 1, max: 100, holdout: 64, maxRange: 256, unsafeSeed: "text" };
    const values = Array.from({ length: 500 }, (_, i) => (i * 37) % 90);
    const expected = privateStream(options).pushMany(values);
    const input = textInput(privateStream(options), { format: "csv", column: "fare" });
    const text = encode(`time,fare\n${values.map((v, i) => `${i},${v}`).join("\n")}`);
    const got = [text.subarray(0, 777), text.subarray(777)].flatMap((piece) => [...input.pushText(piece)]);
    expect([...got, ...input.end()]).toEqual([...expected]);
  });

  test.each([
    [{ format: "xml" }, 'format: expected "plain", "csv", "ndjson" or "fimi", got "xml"'],
    [{ format: "csv", delimiter: "1" }, 'delimiter: expected one of , ; | : or a tab, got "1"'],
    [{ format: "ndjson" }, "column: missing; expected the name of a field"],
  ])("%j is refused", (options, message) => {
    expect(() => recordReader(options as TextOptions)).toThrow(message);
  });

  test("a string is refused: it is encoded first", () => {
    expect(() =>
      new TextReader(recordReader({ format: "plain" })).read("1\n" as never, () => undefined),
    ).toThrow("Uint8Array");
  });
});
