import { expect, test } from "vitest";
import { makeEpoch, Epochs } from "../../../src/stream/release/epochs.js";

const shape = { levels: 3, epsilon: 1 };
/** θ of epochs that are ten blocks long each. */
const epochs = (...thetas: number[]) => thetas.map((theta, i) => makeEpoch(shape, 10 * i, theta, 32));

test("epochs before the history become one, with the noise of the noisiest of them", () => {
  for (const thetas of [
    [5, 9, 2, 7, 3],
    [9, 5, 2, 7, 3],
    [2, 5, 9, 7, 3],
  ]) {
    const list = epochs(...thetas);
    const kept = new Epochs(list[0]!);
    kept.replace(list, 30);
    expect(kept.all.map(({ block, theta }) => [block, theta])).toEqual([
      [0, 9],
      [30, 7],
      [40, 3],
    ]);
    expect(kept.varianceAt(15)).toBe(makeEpoch(shape, 0, 9, 32).nodeVariance);
  }
});

test("with one epoch before the history nothing changes", () => {
  const list = epochs(5, 9, 2);
  const kept = new Epochs(list[0]!);
  kept.replace(list, 19);
  expect(kept.all).toEqual(list);
});
