import { describe, expect, test } from "vitest";
import { jsCore } from "../src/core/js/index.js";
import { makeWasmCore } from "../src/core/wasm/index.js";

const hex = (words: Uint32Array) => Buffer.from(words.buffer).toString("hex");
const words = (text: string) => new Uint32Array(new Uint8Array(Buffer.from(text, "hex")).buffer);

describe.each([makeWasmCore(), jsCore])("$name core", (core) => {
  test("RFC 8439, section 2.3.2", () => {
    const key = words("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    const random = { key, nonce: words("000000090000004a00000000"), position: 16 }; // block 1
    const out = new Uint32Array(16);
    core.keystream(random, out);
    expect(hex(out)).toBe(
      "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    );
    expect(random.position).toBe(32);
  });
});
