import { describe, expect, test } from "vitest";
import type { Core } from "../../../src/core/core.js";
import { jsCore } from "../../../src/core/js/index.js";
import { Purpose, subStream } from "../../../src/core/random.js";
import { makeScale } from "../../../src/core/tables/scale.js";
import { growInSlices, mostSlices, SLICE } from "../../../src/core/treeSlices.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../../src/core/wasm/index.js";
import { Forest } from "../../../src/stream/release/forest.js";
import { bits } from "../../support/numbers.js";
import { watchedCore } from "../../support/watchedCore.js";

const key = unsafeKey("trees");
const scale = makeScale(12345n, 2n);
const cores = [makeWasmCore(), jsCore];

describe.each(cores)("$name core", (core) => {
  test.each([
    [2, 14], // 16 383 nodes: hardly more than one slice
    [16, 5],
    [33, 4],
    [64, 3],
    [16, 2], // drawn at once
  ])("a tree of fan-out %i and %i levels has the same bits in slices", (fanout, levels) => {
    const [one, two] = [0, 0].map(() => subStream(key, Purpose.forest, 0, 3, 1));
    const slices = growInSlices(core, one!, scale, fanout, levels);
    let count = 0;
    let step = slices.next();
    for (; step.done !== true; step = slices.next()) count++;
    const tree = core.growTree(two!, scale, fanout, levels);
    expect(bits(step.value.noise)).toBe(bits(tree.noise));
    expect(bits(step.value.corrections)).toBe(bits(tree.corrections));
    expect(one!.position).toBe(two!.position);
    expect(count).toBeLessThanOrEqual(mostSlices(fanout, levels));
  });
});

/** Forests whose last tree has all its leaves, hardly any, or one. */
const shapes = [2 ** 15, 2 ** 14 + 40, 2 ** 14 + 1].map((blocksPerForest) => ({
  ...{ fanout: 2, levels: 15, blocksPerForest },
}));

test.each(shapes)("no block draws more than a slice: $blocksPerForest blocks a forest", (shape) => {
  const { core, drawn } = watchedCore(cores[0]!);
  const forest = new Forest(core, key, shape, 20);
  forest.estimate(0, 0, scale); // the first tree has none before it
  drawn();
  const whole = new Float64Array(2 * shape.blocksPerForest + 100).fill(7);
  new Forest(jsCore, key, shape, 20).estimateMany(0, whole, scale);
  for (let block = 1; block < whole.length; block++) {
    const estimate = forest.estimate(block, 7, scale);
    if (drawn() > SLICE) expect.fail(`block ${block} draws a tree at once`);
    if (whole[block] !== estimate) expect.fail(`block ${block} has another estimate`);
  }
});

test("batches leave no slices behind", () => {
  const shape = shapes[0]!;
  const { core, drawn } = watchedCore(cores[0]!);
  for (const batch of [2 ** 14 - 1, 2 ** 14 - 5, 2 ** 14 - 17, 2 ** 15 - 3]) {
    const forest = new Forest(core, key, shape, 20);
    const whole = new Float64Array(batch + 200);
    new Forest(jsCore, key, shape, 20).estimateMany(0, whole, scale);
    const sums = new Float64Array(batch);
    forest.estimateMany(0, sums, scale);
    expect(bits(sums)).toBe(bits(whole.subarray(0, batch)));
    drawn();
    for (let block = batch; block < whole.length; block++) {
      expect(forest.estimate(block, 0, scale)).toBe(whole[block]);
      expect(drawn()).toBeLessThanOrEqual(SLICE);
    }
  }
});

test("what fails ahead is drawn when it is due", () => {
  const shape = shapes[0]!;
  let failures = 0;
  const core: Core = {
    ...jsCore,
    laplace() {
      failures++;
      throw new RangeError("no memory");
    },
  };
  const [failing, sound] = [core, jsCore].map((one) => new Forest(one, key, shape, 20));
  const first = 2 ** 14 - 100;
  for (let block = first; block < first + 200; block++)
    expect(failing!.estimate(block, 0, scale)).toBe(sound!.estimate(block, 0, scale));
  expect(failures).toBeGreaterThan(1);
});

test("where the scale changes, trees that were drawn ahead are drawn again", () => {
  const shape = shapes[0]!;
  const [ahead, afresh] = [0, 0].map(() => new Forest(jsCore, key, shape, 20));
  const [tree, other] = [2 ** 14, makeScale(98765n, 2n)];
  for (let block = tree - 100; block < tree; block++) ahead!.estimate(block, 0, scale);
  expect(ahead!.estimate(tree, 0, other)).toBe(afresh!.estimate(tree, 0, other));
  expect(ahead!.estimate(tree, 0, scale)).not.toBe(ahead!.estimate(tree, 0, other));
});
