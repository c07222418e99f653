import { describe, expect, test } from "vitest";
import { checkBinding, writeBinding } from "../../src/stream/binding.js";
import { Decoder, Encoder } from "../../src/snapshot/codec.js";
import { resolveSettings } from "../../src/stream/options.js";
import { parametersOf } from "../../src/stream/binding.js";

const settings = resolveSettings({ epsilon: 1, max: 100, maxRange: 256, name: "first" });

function written(name: string): Uint8Array {
  const writer = new Encoder();
  writeBinding(writer, settings, name);
  return new Decoder(writer.bytes).blob();
}

describe("what a snapshot is bound to", () => {
  test("is JSON of the name and of every other parameter", () => {
    const text = new TextDecoder().decode(written('a "b"\n€'));
    expect(JSON.parse(text)).toEqual({ ...parametersOf(settings), name: 'a "b"\n€' });
  });

  test("is found again by its name, whichever stream the settings were made for", () => {
    for (const name of ["", "first", "second", "€"])
      expect(() => checkBinding(written(name), settings, name)).not.toThrow();
  });

  test("may come in another order, as older versions wrote it", () => {
    const { name, ...others } = parametersOf(settings);
    const older = new TextEncoder().encode(JSON.stringify({ ...others, name }));
    expect(older).not.toEqual(written("first"));
    expect(() => checkBinding(older, settings, "first")).not.toThrow();
  });

  test("is refused under another name, also one of the same length", () => {
    expect(() => checkBinding(written("firsx"), settings, "first")).toThrow(
      'snapshot: expected one of the stream "first", got one of "firsx"',
    );
    expect(() => checkBinding(written("first"), settings, "first ")).toThrow(/got one of "first"/);
  });

  test("is refused with another setting", () => {
    const other = resolveSettings({ epsilon: 2, max: 100, maxRange: 256 });
    expect(() => checkBinding(written("first"), other, "first")).toThrow(/epsilon = "2", got "1"/);
  });
});
