import { describe, expect, test } from "vitest";
import { resolveSettings } from "../../src/stream/options.js";
import { checkValues } from "../../src/core/batches.js";
import {
  checkChoice,
  checkInteger,
  checkPositive,
  checkText,
  checkValue,
  ownOptions,
} from "../../src/core/checks.js";

describe("parameters are public: a message quotes what came", () => {
  test.each<[unknown, string]>([
    [5n, "got 5"],
    ["5", 'got "5"'],
    [null, "got a value of type null"],
    [{}, "got a value of type object"],
    [undefined, "got a value of type undefined"],
  ])("%s", (value, quoted) => {
    expect(() => checkPositive("epsilon", value)).toThrow(TypeError);
    expect(() => checkPositive("epsilon", value)).toThrow(`epsilon: expected a number above 0, ${quoted}`);
    expect(() => checkInteger("fanout", value, 2, 64)).toThrow(`fanout: expected a whole number, ${quoted}`);
  });
});

describe("ends of what is allowed", () => {
  test("positive numbers", () => {
    expect(checkPositive("x", 5e-324)).toBe(5e-324);
    expect(checkPositive("x", Number.MAX_VALUE)).toBe(Number.MAX_VALUE);
    for (const x of [0, -0, -1, Infinity, NaN])
      expect(() => checkPositive("x", x)).toThrow(`x: expected a finite number above 0, got ${x}`);
  });

  test("whole numbers", () => {
    for (const x of [2, 64]) expect(checkInteger("x", x, 2, 64)).toBe(x);
    for (const x of [1, 65, 2.5, NaN, Infinity])
      expect(() => checkInteger("x", x, 2, 64)).toThrow(`x: expected a whole number from 2 to 64, got ${x}`);
  });

  test("words, texts and options", () => {
    expect(checkChoice("core", "js", ["wasm", "js"])).toBe("js");
    expect(() => checkChoice("core", "gpu", ["wasm", "js"])).toThrow(
      'core: expected "wasm", "js", got "gpu"',
    );
    expect(checkText("name", "")).toBe("");
    expect(() => checkText("name", 3)).toThrow("name: expected a string, got a value of type number");
    expect(() => ownOptions<object>("options", { epsilonn: 1 }, ["epsilon"])).toThrow(
      'options: unknown option "epsilonn"; expected epsilon',
    );
    for (const options of [null, 3, "x", Symbol("x")])
      expect(() => ownOptions("options", options as never, [])).toThrow(
        "options: expected an object of options",
      );
  });

  test("a hold-out of up to 2³² values", () => {
    const at = (holdout: number) => resolveSettings({ epsilon: 1, max: 100, threshold: 100, holdout });
    expect(at(2 ** 32).holdout.warming).toBe(2 ** 32);
    expect(() => at(2 ** 32 + 1)).toThrow("holdout: expected a whole number from 0 to 4294967296");
  });

  test("noise up to a scale of 2⁴⁰, and none beyond", () => {
    const at = (epsilon: number) =>
      resolveSettings({ epsilon, max: 2 ** 20, tuning: { fanout: 16 }, maxRange: 16 });
    expect(at(2 ** -20).tree.levels).toBe(1);
    expect(() => at(2 ** -20 * (1 - 2 ** -20))).toThrow("epsilon: noise of scale");
    expect(() => at(2 ** -21)).toThrow("epsilon: noise of scale");
  });
});

describe("values are private: a message never quotes one", () => {
  test.each([NaN, Infinity, -Infinity, "12345", null, undefined, 12345n])("%s", (bad) => {
    const value = bad as number;
    expect(() => checkValue(value)).toThrow(new TypeError("value: expected a finite number"));
    expect(() => checkValues([1, value])).toThrow(
      new TypeError("values[1]: expected a finite number; nothing of this batch was taken"),
    );
  });

  test("every finite number is taken as it is", () => {
    for (const value of [0, -0, 5e-324, -1e308, 2 ** 53 + 2]) {
      expect(Object.is(checkValue(value), value)).toBe(true);
      expect(Object.is(checkValues([value])[0], value)).toBe(true);
    }
    const batch = Float64Array.of(1, 2);
    expect(checkValues(batch)).toEqual(batch);
    expect(checkValues(batch)).not.toBe(batch);
    expect(() => checkValues("12" as unknown as number[])).toThrow(TypeError);
  });
});

test("options are own properties, each read once", () => {
  let reads = 0;
  const given = {
    get max() {
      return ++reads;
    },
  };
  const own = ownOptions("options", Object.setPrototypeOf(given, { seed: 1 }) as object, ["max", "seed"]);
  expect({ ...own }).toEqual({ max: 1 });
  expect(reads).toBe(1);
  expect("seed" in own).toBe(false);
  expect(() => ownOptions("options", Symbol("x") as never, [])).toThrow(/^options: expected an object/);
});

test("a batch that changes while it is read is checked as it is taken", () => {
  let reads = 0;
  const shifty = new Proxy([1], {
    get: (of, key): unknown => (key === "0" ? (++reads === 1 ? 5 : NaN) : Reflect.get(of, key)),
  });
  expect(checkValues(shifty)).toEqual(Float64Array.of(5));
  expect(reads).toBe(1);
});
