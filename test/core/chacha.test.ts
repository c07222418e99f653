import { createCipheriv } from "node:crypto";
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { makeMechanism } from "../../src/core/tables/sectors.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadNoiseKernels } from "../../src/core/wasm/instance.js";

const hex = (words: Uint32Array) => Buffer.from(words.buffer).toString("hex");
const words = (text: string) => new Uint32Array(new Uint8Array(Buffer.from(text, "hex")).buffer);
const bytes = (array: Uint32Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const zeros = "00".repeat(32);
const counting = Array.from({ length: 32 }, (_, i) => i.toString(16).padStart(2, "0")).join("");

/** OpenSSL's keystream for a key, nonce and block. */
function openssl(key: Uint32Array, nonce: Uint32Array, block: number, length: number): Buffer {
  const iv = Buffer.concat([bytes(Uint32Array.of(block)), bytes(nonce)]);
  return createCipheriv("chacha20", bytes(key), iv).update(Buffer.alloc(length));
}

describe.each([makeWasmCore(), jsCore])("$name core", (core) => {
  test.each([
    {
      name: "section 2.3.2",
      key: counting,
      nonce: "000000090000004a00000000",
      block: 1,
      keystream:
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    },
    {
      name: "section 2.4.2: 114 bytes, the rest of the second block left out",
      key: counting,
      nonce: "000000000000004a00000000",
      block: 1,
      keystream:
        "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf788a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b769a6749f3f630f4122cafe28ec4dc47e26d4346d70b98c73f3e9c53ac40c5945398b6eda1a832c89c167eacd901d7e2b",
    },
    {
      name: "appendix A.1, vector 1",
      key: zeros,
      nonce: "000000000000000000000000",
      block: 0,
      keystream:
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    },
    {
      name: "appendix A.1, vector 2",
      key: zeros,
      nonce: "000000000000000000000000",
      block: 1,
      keystream:
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    },
    {
      name: "appendix A.1, vector 3",
      key: `${"00".repeat(31)}01`,
      nonce: "000000000000000000000000",
      block: 1,
      keystream:
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    },
    {
      name: "appendix A.1, vector 4",
      key: `00ff${"00".repeat(30)}`,
      nonce: "000000000000000000000000",
      block: 2,
      keystream:
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    },
    {
      name: "appendix A.1, vector 5",
      key: zeros,
      nonce: "000000000000000000000002",
      block: 0,
      keystream:
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c78a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    },
  ])("RFC 8439, $name", ({ key, nonce, block, keystream }) => {
    const random = { key: words(key), nonce: words(nonce), position: 16 * block };
    const out = new Uint32Array(keystream.length / 8);
    core.keystream(random, out);
    expect(hex(out)).toBe(keystream);
    expect(random.position).toBe(16 * block + out.length);
  });

  test("a megabyte from a middle word equals OpenSSL's", () => {
    const random = { key: unsafeKey("long"), nonce: Uint32Array.of(1, 2, 3), position: 16 * 7 + 5 };
    const out = new Uint32Array(2 ** 18);
    core.keystream(random, out);
    const want = openssl(random.key, random.nonce, 7, 4 * (5 + out.length)).subarray(20);
    expect(Buffer.compare(bytes(out), want)).toBe(0);
  });

  test("any cut into calls gives the same stream", () => {
    const random = { key: unsafeKey("cuts"), nonce: Uint32Array.of(9, 8, 7), position: 0 };
    const lengths = [0, 1, 2, 13, 16, 17, 63, 64, 65, 1000, 0, 16384, 16383, 3];
    const parts = lengths.map((length) => {
      const out = new Uint32Array(length);
      core.keystream(random, out);
      return bytes(out);
    });
    const all = Buffer.concat(parts);
    expect(Buffer.compare(all, openssl(random.key, random.nonce, 0, all.length))).toBe(0);
    expect(random.position).toBe(all.length / 4);
  });

  test("the last words of a sub-stream can be read, and none after them", () => {
    const random = { key: unsafeKey("end"), nonce: Uint32Array.of(4, 5, 6), position: 2 ** 36 - 32 };
    expect(() => core.keystream(random, new Uint32Array(33))).toThrow(RangeError);
    expect(random.position).toBe(2 ** 36 - 32);
    const out = new Uint32Array(32);
    core.keystream(random, out);
    expect(Buffer.compare(bytes(out), openssl(random.key, random.nonce, 2 ** 32 - 2, 128))).toBe(0);
    expect(random.position).toBe(2 ** 36);
    expect(() => core.keystream(random, new Uint32Array(1))).toThrow(
      /^random: position: expected a number from 0 to 68719476736/,
    );
  });
});

test("neither key nor keystream stays in the shared memory", () => {
  const core = makeWasmCore();
  const secret = { key: unsafeKey("secret"), nonce: Uint32Array.of(1, 1, 1), position: 3 };
  const remains = (needle: Uint32Array) =>
    Buffer.from(loadNoiseKernels().memory.buffer).indexOf(bytes(needle)) >= 0;
  for (const length of [1, 100, 20_000]) {
    const out = new Uint32Array(length);
    core.keystream({ ...secret }, out);
    core.geometric({ ...secret }, makeScale(3n, 2n), new Float64Array(length));
    core.laplace({ ...secret }, makeScale(3n, 2n), new Float64Array(length));
    expect(remains(secret.key.subarray(0, 2))).toBe(false);
    expect(remains(secret.key.subarray(6))).toBe(false);
    // No first word decides here, so the last report was drawn from the last six.
    const reported = { ...secret };
    const undecided = makeMechanism(1, 2 ** 20, 2 ** 20, [1n << 168n, 0n, 0n, 0n]);
    const quantiser = { scale: 1, shift: 0 };
    core.fillReports(reported, undecided, quantiser, new Float64Array(length), new Uint32Array(length));
    const block = new Uint32Array(16);
    for (const position of [3, length - 1, reported.position - 5]) {
      jsCore.keystream({ ...secret, position }, block);
      expect(remains(block.subarray(0, 2))).toBe(false);
    }
  }
  // The search does find what is there.
  const heap = (loadNoiseKernels().heapBase() + 15) & ~15;
  new Uint32Array(loadNoiseKernels().memory.buffer, heap, 8).set(secret.key);
  expect(remains(secret.key.subarray(6))).toBe(true);
  new Uint32Array(loadNoiseKernels().memory.buffer, heap, 8).fill(0);
});
