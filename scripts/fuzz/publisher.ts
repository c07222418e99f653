/** One episode with a publisher: random options, then random calls on both cores. */
import type { SealablePublisher } from "../../src/central/publisher.js";
import type { TopsOptions } from "../../src/central/settings.js";
import { restore, tops } from "../../src/index.js";
import { outcome, same } from "./compare.js";
import type { Dice } from "./dice.js";

const CALLS = 4000;
const KEY = new Uint8Array(32).fill(7);

/** @returns how many calls were made and compared */
export async function publisherEpisode(dice: Dice): Promise<number> {
  const options = randomOptions(dice);
  const [made, twin] = (["wasm", "js"] as const).map((core) => outcome(() => tops({ ...options, core })));
  if (typeof made === "string") {
    if (made !== twin) throw new Error(`options refused differently: ${made} / ${String(twin)}`);
    return 1;
  }
  let [wasm, js] = [made, twin] as [SealablePublisher, SealablePublisher];
  for (let call = 1; call <= CALLS; call++) {
    if (dice.chance(1 / 4000)) [wasm, js] = await swapped(wasm, js, options);
    const [name, act] = randomCall(dice, options.max);
    const length = wasm.length;
    const [a, b] = [outcome(() => act(wasm, length)), outcome(() => act(js, length))];
    if (!same(a, b) || wasm.length !== js.length || wasm.taken !== js.taken)
      throw new Error(`call ${call}, ${name}: cores differ on ${JSON.stringify(options)}`);
  }
  return CALLS;
}

/** Seals both and restores each on the other core. */
async function swapped(
  wasm: SealablePublisher,
  js: SealablePublisher,
  options: TopsOptions,
): Promise<[SealablePublisher, SealablePublisher]> {
  const [fromWasm, fromJs] = [await wasm.seal(KEY), await js.seal(KEY)];
  return [
    await restore(fromJs, KEY, { ...options, core: "wasm" }),
    await restore(fromWasm, KEY, { ...options, core: "js" }),
  ];
}

function randomOptions(dice: Dice): TopsOptions {
  const fanout = dice.pick([2, 3, 4, 16, 64, 2 + dice.below(63)]);
  const max = dice.pick([1, 100, 256, 1000, dice.scaled(0.01, 1e6)]);
  const maxRange = Math.round(dice.scaled(fanout, 5000));
  const fixed = dice.chance(0.4);
  const resolution = dice.pick([undefined, undefined, max / 64, 0.1, 1, 2 ** -10]);
  const smoother = dice.pick([
    "recent",
    "mean",
    "median",
    { moving: 1 + dice.below(9) },
    { exponential: 0.3 },
  ] as const);
  return {
    epsilon: dice.pick([0.1, 1, 3, dice.scaled(0.001, 50), dice.scaled(1e-9, 1e9)]),
    max,
    maxRange,
    fanout,
    holdout: fixed ? dice.below(30) : 1 + dice.below(300),
    smoother,
    skipLevels: dice.pick(["auto", "paper", 0, dice.below(5)] as const),
    variant: dice.pick(["default", "default", "paper"] as const),
    warmStart: dice.chance(0.7),
    unsafeSeed: `fuzz ${dice.word()}`,
    ...(fixed ? { threshold: max * dice.pick([1, 0.5, dice.unit()]) } : {}),
    ...(resolution === undefined ? {} : { resolution }),
  };
}

type Call = (stream: SealablePublisher, length: number) => unknown;

function randomCall(dice: Dice, max: number): [name: string, call: Call] {
  const roll = dice.unit();
  if (roll < 0.93) {
    const value = randomValue(dice, max);
    return ["push", (stream) => stream.push(value)];
  }
  if (roll < 0.96) {
    const values = Float64Array.from({ length: dice.below(dice.pick([3, 40, 400])) }, () =>
      randomValue(dice, max),
    );
    return ["pushMany", (stream) => stream.pushMany(values)];
  }
  if (roll < 0.985) return ["range", randomRange(dice)];
  if (roll < 0.999) return ["bad input", badCall(dice)];
  return ["account", (stream) => ({ ...stream.account(), core: "" })];
}

function randomRange(dice: Dice): Call {
  const [a, b] = [dice.unit(), dice.unit()];
  const answer = dice.pick(["best", "published"] as const);
  const again = dice.chance(0.2);
  return (stream, length) => {
    const from = Math.floor(Math.min(a, b) * (length + 1));
    const to = Math.floor(Math.max(a, b) * (length + 1));
    if (again) return stream.published(from, to);
    const { sum, mean, standardError, ...rest } = stream.range(from, to, { answer });
    return { sum, mean, standardError, ends: rest.interval(0.9) };
  };
}

/** Usual values, and those that sit on an edge: halves of the grid, ends of the domain, far outside, tiny, −0. */
function randomValue(dice: Dice, max: number): number {
  if (dice.chance(0.9)) return dice.unit() * max;
  const edges = [0, -0, max, -max, 5e-324, 2 ** 53 - 1, 2 ** 53 + 2, 1e308, max / 2, dice.below(256) + 0.5];
  return dice.pick([...edges, Math.floor(dice.unit() * max), (dice.below(256) + 0.5) * 2 ** -10]);
}

function badCall(dice: Dice): Call {
  const bad = dice.pick([NaN, Infinity, -Infinity, "1", null, undefined, {}, 1n]) as number;
  const at = dice.below(5);
  return dice.pick<Call>([
    (stream) => stream.push(bad),
    (stream) => stream.pushMany([1, 2, 3, 4, 5].with(at, bad)),
    (stream) => stream.pushMany(bad as unknown as number[]),
    (stream, length) => stream.range(0, length + 1 + at),
    (stream) => stream.range(-1, 0),
    (stream) => stream.range(0.5, 1),
    (stream) => stream.published(bad, 3),
    (stream) => stream.range(0, 0, { answer: "worst" as "best" }),
  ]);
}
