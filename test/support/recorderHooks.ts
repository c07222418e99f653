/**
 * Where true sums meet noise, method by method. While a recording is active, these methods and both cores tell it what
 * they do; otherwise they are as ever. A mechanism that adds noise in a method of its own joins with a `watch` here.
 */
import { chooseCore, chooseData, chooseNoise } from "../../src/core/choose.js";
import type { Core, DataCore, NoiseCore, Tree } from "../../src/core/core.js";
import type { DayShape } from "../../src/core/dayShape.js";
import { jsCore, jsData, jsNoise } from "../../src/core/js/index.js";
import { Purpose } from "../../src/core/random.js";
import { HubMetric } from "../../src/durable/eventHub/hubMetric.js";
import { MOST_COLUMNS } from "../../src/events/days/dayNoise.js";
import { KeyDiscovery } from "../../src/events/keys/keyDiscovery.js";
import { KeyVotes } from "../../src/events/keys/keyVotes.js";
import { LimitChoice } from "../../src/events/people/limitChoice.js";
import { EventMetric } from "../../src/events/eventMetric.js";
import { People } from "../../src/events/people/people.js";
import { Release } from "../../src/events/release.js";
import { RunningDay } from "../../src/events/days/runningDay.js";
import { ThresholdTally } from "../../src/events/thresholdTally.js";
import { ThresholdCounts } from "../../src/stream/holdout/thresholdCounts.js";
import { Encoder } from "../../src/snapshot/codec.js";
import { Forest } from "../../src/stream/release/forest.js";
import { Probe } from "../../src/stream/holdout/probe.js";
import { NoisyMax } from "../../src/stream/holdout/noisyMax.js";
import { type PlacedTree, Trees } from "../../src/stream/release/trees.js";
import { TreeSequence } from "../../src/stream/release/treeSequence.js";
import { WarmStart } from "../../src/stream/holdout/warmStart.js";
import type { Bounds, Draw, NoiseTree, Recording } from "./recorder.js";

let active: Recording | undefined;

/** Sensitivity of the scores of the choices of θ to one value, on the grid of their noise, for the running configuration. */
export interface Weights {
  readonly holdout: number;
  readonly refining: number;
  readonly rough: number;
  readonly fine: number;
  /** Sensitivity of the choice of k to one person. */
  readonly limit: number;
}
let weights: Weights = { holdout: 1, refining: 1, rough: 1, fine: 1, limit: 1 };

/** Records what `act` draws and what meets it. */
export async function recorded<T>(recording: Recording, own: Weights, act: () => T | Promise<T>): Promise<T> {
  if (active !== undefined) throw new Error("recorder: expected one recording at a time");
  [active, weights] = [recording, own];
  try {
    return await act();
  } finally {
    active = undefined;
  }
}

/** How many values of the tree that ends are above the next candidate for θ. */
let followed: number | undefined;

// Draws

/** Sub-stream, scale and shape of the trees of noise that were drawn, by the array of their leaves. */
const grown = new WeakMap<Float64Array, NoiseTree>();

function watchCore(core: NoiseCore | DataCore): void {
  const own = { ...core } as Core; // watched methods that the core does not have are left out below
  const none = new Float64Array(0);
  const sampler =
    (method: "laplace" | "geometric", draw: Core["laplace"]): Core["laplace"] =>
    (random, scale, out) => {
      if (active === undefined) return draw(random, scale, out);
      const [read, used] = [active.randomOf(random), active.scaleOf(scale)];
      const before = { ...read };
      if (active.real) draw(read, used, out);
      else out.fill(0);
      random.position = read.position;
      const made = active.draw(method, before, used, out, out.length);
      if (made.stage === (Purpose.following as number) && followed !== undefined)
        active.meet(made, 0, followed);
    };
  const watched: Pick<
    Core,
    "laplace" | "geometric" | "growTree" | "growDay" | "noisyMax" | "fillReports" | "keystream"
  > = {
    laplace: sampler("laplace", (...all) => own.laplace(...all)),
    geometric: sampler("geometric", (...all) => own.geometric(...all)),
    growTree(random, scale, fanout, levels) {
      if (active === undefined) return own.growTree(random, scale, fanout, levels);
      const [read, used] = [active.randomOf(random), active.scaleOf(scale)];
      const leaves = fanout ** (levels - 1);
      const bounds = Array.from({ length: levels - 1 }, (_, l) => evenBounds(leaves, fanout ** (l + 1)));
      const tree: Tree = active.real
        ? own.growTree({ ...read }, used, fanout, levels)
        : {
            noise: new Float64Array(leaves),
            corrections: new Float64Array(levels === 1 ? 0 : leaves / fanout),
          };
      const { stream } = active.draw("growTree", read, used, none, leaves);
      const record = { name: stream.name, scale: used, bounds };
      active.growTree(record);
      grown.set(tree.noise, record);
      return tree;
    },
    growDay(leafRandom, nodeRandom, scale, shape) {
      if (active === undefined) return own.growDay(leafRandom, nodeRandom, scale, shape);
      const [leaf, node] = [active.randomOf(leafRandom), active.randomOf(nodeRandom)];
      const used = active.scaleOf(scale);
      const { stream } = active.draw("growDay leaves", leaf, used, none, shape.sizes[0]!);
      active.growTree({ name: stream.name, scale: used, bounds: dayBounds(shape) });
      active.draw("growDay nodes", node, used, none, shape.fanouts.length);
      return active.real ? own.growDay(leaf, node, used, shape) : new Float64Array(shape.sizes[1] ?? 0);
    },
    noisyMax(random, bins, selection) {
      if (active === undefined) return own.noisyMax(random, bins, selection);
      active.draw(
        "noisyMax",
        { ...random },
        selection.scale,
        none,
        selection.candidates,
        selection.countWeight,
      );
      return own.noisyMax(random, bins, selection);
    },
    fillReports(random, mechanism, quantiser, values, out) {
      active?.note(
        `fillReports ${random.nonce.join(".")}@${random.position} ε=${mechanism.epsilon} ×${out.length}`,
      );
      own.fillReports(random, mechanism, quantiser, values, out);
    },
    keystream(random, out) {
      active?.note(`keystream ${random.nonce.join(".")}@${random.position} ×${out.length}`);
      own.keystream(random, out);
    },
  };
  for (const name of Object.keys(watched))
    if (name in core) Object.assign(core, { [name]: Reflect.get(watched, name) as unknown });
}

for (const core of new Set([jsCore, jsNoise, jsData, chooseCore(), chooseNoise(), chooseData()]))
  watchCore(core);

const evenBounds = (leaves: number, size: number): number[] =>
  Array.from({ length: leaves / size + 1 }, (_, i) => i * size);

const shapeBounds = new WeakMap<DayShape, Bounds>();

function dayBounds(shape: DayShape): Bounds {
  let found = shapeBounds.get(shape);
  if (found !== undefined) return found;
  const { sizes, fanouts } = shape;
  const levels: number[][] = [];
  let below = Array.from({ length: sizes[0]! + 1 }, (_, i) => i);
  for (let level = 1, node = 0; level < sizes.length; level++) {
    const own = [0];
    for (let i = 0, child = 0; i < sizes[level]!; i++) own.push(below[(child += fanouts[node++]!)]!);
    levels.push((below = own));
  }
  shapeBounds.set(shape, (found = levels));
  return found;
}

// Meetings

type Methods<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** Replaces a method: `around` runs it by `run`, and gets the draws of the call afterwards. */
function watch<T extends object, K extends Methods<T>>(
  prototype: T,
  name: K,
  around: (
    recording: Recording,
    run: () => unknown,
    self: T,
    args: T[K] extends (...args: infer A) => unknown ? A : never,
  ) => unknown,
): void {
  const method = prototype[name] as (this: T, ...args: unknown[]) => unknown;
  function watched(this: T, ...args: unknown[]): unknown {
    if (active === undefined) return method.apply(this, args);
    return around(active, () => method.apply(this, args), this, args as never);
  }
  Object.defineProperty(prototype, name, { value: watched, configurable: true, writable: true });
}

/** Runs a method and gives the draws that it made, beside its result. */
function drawsOf<R>(
  recording: Recording,
  run: () => R,
): { readonly result: R; readonly draws: readonly Draw[] } {
  const before = recording.draws;
  const draws: Draw[] = (recording.draws = []);
  try {
    return { result: run(), draws };
  } finally {
    before.push(...draws);
    recording.draws = before;
  }
}

/** Everything that a part writes into snapshots, as numbers. */
function stateOf(part: { save(writer: Encoder): void }, count: number): Float64Array {
  const writer = new Encoder();
  part.save(writer);
  const reader = writer.read();
  return Float64Array.from({ length: count }, () => reader.double());
}

function lengthOf(part: { save(writer: Encoder): void }): number {
  const writer = new Encoder();
  part.save(writer);
  return writer.bytes.length / 8;
}

/** Per candidate, how many values are above it, from values per bin. */
function aboveEach(bins: Float64Array): Float64Array {
  const above = new Float64Array(bins.length - 1);
  for (let k = above.length - 1, sum = 0; k >= 0; k--) above[k] = sum += bins[k + 1]!;
  return above;
}

// Days of events

/** The tree of each column, once its noise was drawn. */
const dayTrees = new WeakMap<RunningDay, Map<number, NoiseTree>>();

watch(RunningDay.prototype, "estimate", (recording, run, self, [, , leaf, counted]) => {
  const sums = Float64Array.from(counted);
  if (recording.plant.skipEmpty === true && sums.every((sum) => sum === 0)) return sums;
  const { result, draws } = drawsOf(recording, run);
  const { shape } = self.periods;
  const bounds = shape.sizes.length > 1 ? dayBounds(shape) : [];
  let trees = dayTrees.get(self);
  if (trees === undefined) dayTrees.set(self, (trees = new Map<number, NoiseTree>()));
  for (const { stream, scale } of draws) {
    // Leaves are drawn in runs, the next run a few columns ahead of its first leaf. The sub-stream of run 0 names the tree.
    const { key, nonce } = stream;
    const [first, second, third] = nonce;
    const column = Math.floor(first! / MOST_COLUMNS);
    const tree = { name: `${key}:${column * MOST_COLUMNS}.${second}.${third}`, scale, bounds };
    recording.growTree(tree);
    trees.set(column, tree);
  }
  sums.forEach((sum, column) => recording.meetLeaf(trees.get(column)!, leaf, sum));
  return result;
});

watch(Release.prototype, "add", (recording, run) => {
  if (recording.plant.addTwice === true) run();
  return run();
});

watch(Release.prototype, "clippedOf", (recording, run) => {
  const { result, draws } = drawsOf(recording, run);
  if (result !== undefined) recording.meet(draws[0]!, 0, (result as number) - draws[0]!.noise[0]!);
  return result;
});

/** Metrics of hubs that count people; others replay keys, and what they count of people is never read. */
const counting = new WeakSet<EventMetric>();

watch(HubMetric.prototype, "close", (_, run, self) => {
  counting.add(self.events);
  return run();
});

/** Draws that hide counts of people. */
const ofPeople = ({ stage, stream }: Draw): boolean =>
  stage === (Purpose.dayCounts as number) && [1, 2].includes(stream.nonce[0]!);
/** Those that were made before `closeNext` took them. */
const ahead = new WeakMap<EventMetric, Draw[]>();

watch(EventMetric.prototype, "prepareNext", function* (recording, run, self) {
  const preparing = run() as ReturnType<EventMetric["prepareNext"]>;
  const made: Draw[] = [];
  ahead.set(self, made);
  for (;;) {
    const { result, draws } = drawsOf(recording, () => preparing.next());
    made.push(...draws.filter(ofPeople));
    if (result.done === true) return;
    yield;
  }
});

watch(EventMetric.prototype, "closeNext", (recording, run, self) => {
  if (recording.hub && !counting.has(self)) return run();
  const last = self.limitedDays.at(-1)?.day ?? -Infinity;
  const { result, draws } = drawsOf(recording, run);
  const counts = [...(ahead.get(self) ?? []), ...draws.filter(ofPeople)];
  ahead.delete(self);
  const fresh = self.limitedDays.filter(({ day }) => day > last).flatMap(({ lost, whole }) => [lost, whole]);
  if (fresh.length !== counts.length) recording.faults.push("limited: draws and counts differ in number");
  fresh.forEach((count, i) => recording.meet(counts[i]!, 0, count - counts[i]!.noise[0]!));
  return result;
});

watch(KeyVotes.prototype, "vote", (recording, run) => {
  if (recording.plant.voteTwice === true) run();
  return run();
});

watch(KeyDiscovery.prototype, "vote", (recording, run, self, [, , day]) => {
  const used = run();
  if (recording.plant.testOften === true) self.test(day);
  return used;
});

watch(KeyVotes.prototype, "test", (recording, run, self) => {
  const cells = new Map(self.candidates.map(({ name, votes }) => [name, votes]));
  const { result, draws } = drawsOf(recording, run);
  recording.meetCells(draws[0]!, cells);
  recording.output((result as { name: string }[]).map(({ name }) => name).sort(), 0, draws[0]);
  return result;
});

watch(ThresholdTally.prototype, "countDay", (recording, run, self) => {
  const { result, draws } = drawsOf(recording, run);
  recording.meet(draws[0]!, 0, stateOf(self, lengthOf(self)).at(-3)!);
  recording.output((result as { enough: boolean }).enough, 0, draws[0]);
  return result;
});

watch(ThresholdTally.prototype, "choose", (recording, run, self) => {
  const counts = stateOf(self, lengthOf(self) - 3);
  const { result, draws } = drawsOf(recording, run);
  const above = aboveEach(counts);
  recording.meetCounts(draws[0]!, above, weights.rough);
  recording.meetCounts(draws[1]!, above, weights.fine);
  recording.output(result, 0, draws[1]);
  return result;
});

/** How many people of the day had more events than each candidate for k, as the choice was told. */
let aboveLimits: Float64Array = new Float64Array(0);

watch(People.prototype, "bins", (recording, run) => {
  const bins = run() as Float64Array<ArrayBuffer>;
  const counted = bins.map((count) => (recording.plant.chooseTwice === true ? 2 : 1) * count);
  aboveLimits = aboveEach(counted);
  return counted;
});

watch(LimitChoice.prototype, "choose", (recording, run) => {
  const { result, draws } = drawsOf(recording, run);
  recording.meetCounts(draws[0]!, aboveLimits, weights.limit);
  recording.output(result, 0, draws[0]);
  return result;
});

// Value streams

const placed = new WeakMap<object, PlacedTree>();
let forest: object | undefined;

watch(Trees.prototype, "take", (_, run) => {
  const tree = run() as PlacedTree;
  if (forest !== undefined) placed.set(forest, tree);
  return tree;
});

function meetBlock(recording: Recording, self: object, block: number, sum: number): void {
  const tree = placed.get(self)!;
  recording.meetLeaf(grown.get(tree.noise)!, block - tree.first, sum);
}

function within<T>(self: object, run: () => T): T {
  const before = forest;
  forest = self;
  try {
    return run();
  } finally {
    forest = before;
  }
}

watch(Forest.prototype, "prepare", (_, run, self) => within(self, run));

watch(Forest.prototype, "estimate", (recording, run, self, [block, sum]) => {
  const estimate = within(self, run);
  meetBlock(recording, self, block, sum);
  return estimate;
});

watch(Forest.prototype, "estimateMany", (recording, run, self, [block, sums, scale]) => {
  // One by one: each block then has the tree that it is in.
  if (sums.length > 1) {
    for (let i = 0; i < sums.length; i++) self.estimateMany(block + i, sums.subarray(i, i + 1), scale);
    return undefined;
  }
  const sum = sums[0];
  within(self, run);
  if (sum !== undefined) meetBlock(recording, self, block, sum);
  return undefined;
});

watch(WarmStart.prototype, "mean", (recording, run, self) => {
  const [sum] = stateOf(self, 1);
  const { result, draws } = drawsOf(recording, run);
  recording.meet(draws[0]!, 0, sum!);
  return result;
});

watch(Probe.prototype, "decide", (recording, run, self) => {
  const [, ...sums] = stateOf(self, lengthOf(self));
  const { result, draws } = drawsOf(recording, run);
  sums.forEach((sum, i) => recording.meet(draws[0]!, i, sum));
  recording.output(result);
  return result;
});

watch(NoisyMax.prototype, "choose", (recording, run, self) => {
  const writer = new Encoder();
  self.save(writer);
  const reader = writer.read();
  const bins = reader.words(reader.double());
  const { result, draws } = drawsOf(recording, run);
  // A value is above θ_i if its bin is i or more.
  const above = new Float64Array(Math.max(...bins) + 1);
  for (const bin of bins) above[bin]!++;
  const [draw] = draws;
  const counts = new Float64Array(MOST_BINS);
  for (let k = above.length - 1, sum = 0; k > 0; k--) counts[Math.min(k, MOST_BINS) - 1] = sum += above[k]!;
  recording.meetCounts(draw!, counts, draw!.weight);
  recording.output(result);
  return result;
});
/** Candidates of the paper's choice that configurations have, at most. */
const MOST_BINS = 2 ** 12;

/** Purposes of thresholdCounts.ts, in the order of their counters; sums of the mean's values come last. */
const [SPARSITY, ROUGH, FINE, MEAN] = [0, 1, 2, 3];
const PURPOSES = 5;

watch(ThresholdCounts.prototype, "choose", (recording, run, self, [, , stage]) => {
  const counters = stateOf(self, lengthOf(self)).subarray(1);
  const size = counters.length / (PURPOSES + 1);
  const of = (purpose: number) => counters.subarray(purpose * size, (purpose + 1) * size);
  const { result, draws } = drawsOf(recording, run);
  const weight = stage === Purpose.refining ? weights.refining : weights.holdout;
  const [sparsity, rough, fine, mean, above] = draws;
  recording.meet(sparsity!, 0, aboveEach(of(SPARSITY))[0]!);
  recording.meetCounts(rough!, aboveEach(of(ROUGH)), weight);
  recording.meetCounts(fine!, aboveEach(of(FINE)), weight);
  const chosen = result as ReturnType<ThresholdCounts["choose"]>;
  recording.output(chosen.theta, 2); // those of the mean and of values above θ
  const held = of(MEAN).reduce((sum, n) => sum + n, 0);
  if (held > 0) recording.meet(mean!, 0, Math.round(chosen.mean * held - mean!.noise[0]!));
  recording.meet(above!, 0, chosen.above.count - above!.noise[0]!);
  return result;
});

watch(TreeSequence.prototype, "next", (recording, run, _, [, above]) => {
  followed = above;
  try {
    const result = run() as ReturnType<TreeSequence["next"]>;
    recording.output(result.tree.epoch.theta);
    return result;
  } finally {
    followed = undefined;
  }
});
