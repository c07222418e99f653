import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { secretKey, Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";

afterEach(() => vi.unstubAllGlobals());

describe("keys", () => {
  test("a secret key is 256 bits of the platform's generator", () => {
    const [a, b] = [secretKey(), secretKey()];
    expect(a).toHaveLength(8);
    expect(a).not.toEqual(b); // equal once in 2²⁵⁶
  });

  test.each([undefined, {}])("without a cryptographic generator there is no key", (crypto) => {
    vi.stubGlobal("crypto", crypto);
    expect(() => secretKey()).toThrow(/nothing private can be made here/);
  });

  test("an unsafe key is its seed's, and the same for ever", () => {
    expect(unsafeKey("brume")).toEqual(unsafeKey("brume"));
    expect(unsafeKey("brume")).not.toEqual(unsafeKey("brumes"));
    expect([...unsafeKey("brume")]).toMatchInlineSnapshot(`
      [
        3856569718,
        444418959,
        1130239660,
        790031197,
        3929779169,
        2738541253,
        2517339609,
        987627212,
      ]
    `);
  });
});

describe("sub-streams", () => {
  const key = unsafeKey("sub-streams");

  test("the nonce, field by field", () => {
    const { nonce, position } = subStream(key, Purpose.forest, 0x01020304, 0x1122_33445566, 0x77);
    expect([...nonce]).toEqual([0x01020304, 0x33445566, 0x11227703]);
    expect(position).toBe(0);
  });

  test("different purposes have different nonces", () => {
    const purpose = fc.record({
      purpose: fc.constantFrom(...Object.values(Purpose).filter((one) => typeof one === "number")),
      stream: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      index: fc.oneof(
        fc.nat(300),
        fc.maxSafeNat().map((x) => x % 2 ** 48),
      ),
      tree: fc.nat(255),
    });
    type SubStream = { purpose: Purpose; stream: number; index: number; tree: number };
    const nonce = ({ purpose, stream, index, tree }: SubStream) =>
      [...subStream(key, purpose, stream, index, tree).nonce].join();
    fc.assert(
      fc.property(purpose, purpose, (a, b) => {
        const same =
          a.purpose === b.purpose && a.stream === b.stream && a.index === b.index && a.tree === b.tree;
        expect(nonce(a) === nonce(b)).toBe(same);
        // Neighbours in every field, where a bit in the wrong place would show.
        for (const field of ["stream", "index", "tree"] as const)
          expect(nonce({ ...a, [field]: a[field] + (a[field] % 2 === 0 ? 1 : -1) })).not.toBe(nonce(a));
      }),
    );
  });

  test("a number that does not fit is refused, not cut", () => {
    expect(() => subStream(key, Purpose.forest, 2 ** 32, 0)).toThrow(/^stream: expected a whole number/);
    expect(() => subStream(key, Purpose.forest, -1, 0)).toThrow(RangeError);
    expect(() => subStream(key, Purpose.forest, 0, 2 ** 48)).toThrow(/^index/);
    expect(() => subStream(key, Purpose.forest, 0, 0.5)).toThrow(/^index/);
    expect(() => subStream(key, Purpose.forest, 0, 0, 256)).toThrow(/^tree/);
    expect(() => subStream(key, Purpose.forest, NaN, 0)).toThrow(/^stream/);
    expect(() => subStream(new Uint32Array(7), Purpose.forest, 0, 0)).toThrow(
      /^key: expected 8 words, got 7/,
    );
  });
});

test("no two purposes have a number in common: they would share their noise", () => {
  const numbers = Object.values(Purpose).filter((value) => typeof value === "number");
  expect(new Set(numbers).size).toBe(numbers.length);
});
