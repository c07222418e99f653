import { describe, expect, test } from "vitest";
import {
  banded,
  buffered,
  columnNormOf,
  type Factorisation,
  FactorisedCounter,
  responseOf,
  rootEntries,
  smoothSum,
  squareRoot,
} from "../../../research/systems/factorisation.js";
import { noiseMatrix } from "../../support/noiseMatrix.js";

const forms = { "square root": squareRoot, banded, BLT: buffered };

/** C's entries from B's: B·C = A, all prefix sums of b∗c are… 1. */
function columnOf(response: Float64Array): Float64Array {
  const column = new Float64Array(response.length);
  for (let k = 0; k < column.length; k++) {
    let rest = 1;
    for (let j = 0; j < k; j++) rest -= column[j]! * response[k - j]!;
    column[k] = rest / response[0]!;
  }
  return column;
}

const squares = (numbers: Float64Array) => numbers.reduce((sum, x) => sum + x * x, 0);

describe.each(Object.entries(forms))("%s", (_, form) => {
  test("the column norm it states is that of the C that goes with its noise", () => {
    const horizon = 2000;
    const norm = squares(columnOf(responseOf(form, horizon)));
    expect(columnNormOf(form, horizon)).toBeGreaterThanOrEqual(norm * (1 - 1e-9));
    expect(columnNormOf(form, horizon)).toBeLessThan(norm * (1 + 2e-5));
  });

  test("the variance it states is that of its noise matrix", () => {
    // Integers are published: one noise of a million shows six digits.
    const horizon = 40;
    const million = noiseMatrix(
      (draws) => new FactorisedCounter(form, horizon, { ...draws, take: () => 1e6 * draws.take() }),
      horizon,
    );
    const counter = new FactorisedCounter(form, horizon, {
      take: () => 0,
      spread: { variance: 1, fourth: 0 },
    });
    for (const [from, to] of [
      [0, 1],
      [0, 40],
      [17, 23],
      [39, 40],
    ] as const) {
      const is = million.reduce((sum, column) => sum + ((column[to]! - column[from]!) / 1e6) ** 2, 0);
      expect(counter.spread(from, to).variance).toBeCloseTo(is, 4);
      expect(Math.abs(1.02 * is - counter.spread(from, to).variance)).toBeGreaterThan(1e-3); // 1 % in σ would show
    }
  });
});

test("the square root's entries are C(2k, k)/4^k, by the rule for integrals too", () => {
  expect([...rootEntries(5)]).toEqual([1, 1 / 2, 3 / 8, 5 / 16, 35 / 128]);
  const [entries, response] = [rootEntries(100_000), responseOf(squareRoot, 100_000)];
  for (const k of [0, 1, 2, 10, 1000, 99_999]) expect(response[k]! / entries[k]!).toBeCloseTo(1, 6);
});

/** Column norm times the mean variance of a prefix: the mean squared error, up to σ. */
const loss = (form: Factorisation, horizon: number): number => {
  let [sum, mean] = [0, 0];
  for (const entry of responseOf(form, horizon)) mean += (sum += entry * entry) / horizon;
  return columnNormOf(form, horizon) * mean;
};

test("eight buffers are as good as the square root, a band of 256 is not; the bound of Fichtenberger et al. holds", () => {
  const horizon = 2 ** 18;
  const root = loss(squareRoot, horizon);
  expect(root).toBeLessThan((1 + Math.log((4 * horizon) / 5) / Math.PI) ** 2);
  expect(loss(buffered, horizon) / root).toBeGreaterThan(0.97);
  expect(loss(buffered, horizon) / root).toBeLessThan(1.01);
  expect(loss(banded, horizon) / root).toBeGreaterThan(10);
});

test("far terms of a smooth sum may be taken in steps", () => {
  for (const f of [(k: number) => 1 / (k + 1), (k: number) => 1 / Math.sqrt(k + 1), () => 1])
    for (const count of [10, 8192, 8193, 100_003, 2 ** 20]) {
      let exact = 0;
      for (let k = 0; k < count; k++) exact += f(k);
      expect(smoothSum(count, f) / exact).toBeCloseTo(1, 4);
    }
});
