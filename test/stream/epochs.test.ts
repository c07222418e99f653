import { expect, test } from "vitest";
import { makeStretch, Stretches } from "../../src/stream/epochs.js";

const shape = { levels: 3, epsilon: 1 };
/** θ of stretches that are ten blocks long each. */
const stretches = (...thetas: number[]) => thetas.map((theta, i) => makeStretch(shape, 10 * i, theta, 32));

test("stretches before the history become one, with the noise of the noisiest of them", () => {
  for (const thetas of [
    [5, 9, 2, 7, 3],
    [9, 5, 2, 7, 3],
    [2, 5, 9, 7, 3],
  ]) {
    const list = stretches(...thetas);
    const kept = new Stretches(list[0]!);
    kept.replace(list, 30);
    expect(kept.all.map(({ block, theta }) => [block, theta])).toEqual([
      [0, 9],
      [30, 7],
      [40, 3],
    ]);
    expect(kept.varianceAt(15)).toBe(makeStretch(shape, 0, 9, 32).nodeVariance);
  }
});

test("with one stretch before the history nothing changes", () => {
  const list = stretches(5, 9, 2);
  const kept = new Stretches(list[0]!);
  kept.replace(list, 19);
  expect(kept.all).toEqual(list);
});
