/** Publishers with random options, ToPS and the systems it is compared with: random calls, each on both cores. */
import { comparison, METHOD_NAMES } from "../../research/index.js";
import { type PrivateStream, privateStream, restore, type System } from "../../src/index.js";
import { ANSWER_KINDS } from "../../src/stream/answer/answer.js";
import { outcome, same } from "./compare.js";
import type { Dice } from "./dice.js";
import { randomMethod, randomTops, type SystemOptions } from "./options.js";
import type { Tally } from "./tally.js";

const KEY = new Uint8Array(32).fill(7);
/** Pushes between two calls of another kind: 1 … this. */
const RUN = 24;

type Call = (stream: System) => unknown;

/** Two publishers that should do the same, and the values that are put to them. */
interface Pair {
  wasm: System;
  js: System;
  readonly options: SystemOptions;
  /** Values that sit on an edge: halves of the grid, ends of the domain, far outside, tiny, −0. */
  readonly edges: readonly number[];
}

/** Makes exactly `calls` calls, on as many streams as that takes, and compares each. */
export async function driveStreams(dice: Dice, calls: number, tally: Tally): Promise<void> {
  while (calls > 0) {
    const length = Math.min(calls, Math.ceil(dice.scaled(2000, 16_000)));
    calls -= await driveStream(dice, length, tally);
  }
}

/** @returns calls made: `calls`, or one if the options were refused */
async function driveStream(dice: Dice, calls: number, tally: Tally): Promise<number> {
  const options = dice.chance(0.9) ? randomTops(dice) : randomMethod(dice, METHOD_NAMES);
  const pair = make(options);
  tally.add(pair ? "make" : "options refused");
  if (!pair) return 1;
  try {
    for (let made = 1; made < calls;)
      if (dice.chance(0.6))
        made += pushOneByOne(dice, pair, Math.min(calls - made, 1 + dice.below(RUN)), tally);
      else {
        await callOnce(dice, pair, tally);
        made++;
      }
    note(pair, tally);
  } catch (reason) {
    throw new Error(`${(reason as Error).message} on ${JSON.stringify(options)}`, { cause: reason });
  }
  return calls;
}

function make(options: SystemOptions): Pair | undefined {
  const { max } = options;
  const [wasm, js] = (["wasm", "js"] as const).map((core) =>
    outcome(() =>
      "method" in options ? comparison({ ...options, core }) : privateStream({ ...options, core }),
    ),
  );
  if (typeof wasm !== "string" && typeof js !== "string")
    return {
      ...{ wasm: wasm as System, js: js as System, options },
      edges: [0, -0, max, -max, 5e-324, 2 ** 53 - 1, 2 ** 53 + 2, 1e308, max / 2, max / 128, max / 3],
    };
  if (wasm !== js) throw new Error(`options are refused differently: ${JSON.stringify(options)}`);
  return undefined;
}

/** The commonest call, without closures: what it returns is a number or undefined, and Object.is tells every bit of those. */
function pushOneByOne(dice: Dice, pair: Pair, count: number, tally: Tally): number {
  const { wasm, js } = pair;
  for (let i = 0; i < count; i++) {
    const value = randomValue(dice, pair);
    if (!Object.is(wasm.push(value), js.push(value)) || wasm.length !== js.length)
      throw new Error("push differs");
  }
  tally.add("push", count);
  return count;
}

async function callOnce(dice: Dice, pair: Pair, tally: Tally): Promise<void> {
  if (dice.chance(1 / 800) && "snapshot" in pair.wasm) {
    tally.add("snapshot and restore");
    return swap(pair);
  }
  const [name, call] = randomCall(dice, pair);
  tally.add(name);
  if (!same(outcome(call, pair.wasm), outcome(call, pair.js))) throw new Error(`${name} differs`);
  if (pair.wasm.length !== pair.js.length) throw new Error(`${name}: lengths differ`);
}

/** Snapshots both and restores each on the other core: every call after it compares the two again. */
async function swap(pair: Pair): Promise<void> {
  const [wasm, js] = [pair.wasm, pair.js] as [PrivateStream, PrivateStream];
  const options = pair.options as Parameters<typeof privateStream>[0];
  const [fromWasm, fromJs] = [await wasm.snapshot(KEY), await js.snapshot(KEY)];
  pair.wasm = await restore(fromJs, KEY, { ...options, core: "wasm" });
  pair.js = await restore(fromWasm, KEY, { ...options, core: "js" });
  if (wasm.received !== (pair.wasm as PrivateStream).received) throw new Error("restore: another position");
}

function randomCall(dice: Dice, pair: Pair): [name: string, call: Call] {
  const roll = dice.unit();
  if (roll < 0.45) {
    const values = new Float64Array(dice.scaled(1, 120));
    for (let i = 0; i < values.length; i++) values[i] = randomValue(dice, pair);
    if (dice.chance(0.2)) return ["pushMany", (stream) => stream.pushMany([...values])];
    return ["pushMany", (stream) => stream.pushMany(values)];
  }
  if (roll < 0.75) return randomRange(dice, pair.wasm.length);
  if (roll < 0.85 && "published" in pair.wasm) return publishedAgain(dice, pair.wasm.length);
  if (roll < 0.98) return ["bad input", badCall(dice, pair.wasm.length)];
  return ["statement", (stream) => ({ ...stream.statement(), core: "" })];
}

function randomRange(dice: Dice, length: number): [name: string, call: Call] {
  const [a, b] = [dice.below(length + 1), dice.below(length + 1)];
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const answer = dice.pick(ANSWER_KINDS);
  return [
    "range",
    (stream) => {
      const found = stream.range(from, to, { answer, confidence: 0.9 });
      return [found.sum, found.mean, found.standardError, found.low, found.high];
    },
  ];
}

function publishedAgain(dice: Dice, length: number): [name: string, call: Call] {
  const from = dice.below(length + 1);
  const to = Math.min(length, from + dice.below(100));
  return ["published", (stream) => (stream as PrivateStream).published(from, to)];
}

function randomValue(dice: Dice, { options: { max }, edges }: Pair): number {
  const share = dice.unit();
  if (share < 0.9) return (share / 0.9) * max;
  if (share < 0.97) return dice.pick(edges);
  return share < 0.98
    ? Math.floor(dice.unit() * max)
    : (dice.below(256) + 0.5) * (share < 0.99 ? 1 : 2 ** -10);
}

const BAD = [NaN, Infinity, -Infinity, "1", null, undefined, {}, 1n] as const;

function badCall(dice: Dice, length: number): Call {
  const bad = dice.pick(BAD) as number;
  const at = dice.below(5);
  return dice.pick<Call>([
    (stream) => stream.push(bad),
    (stream) => stream.pushMany([1, 2, 3, 4, 5].with(at, bad)),
    (stream) => stream.pushMany(new Float64Array(5).fill(NaN, at)),
    (stream) => stream.pushMany(bad as unknown as number[]),
    (stream) => stream.range(0, length + 1 + at),
    (stream) => stream.range(-1, 0),
    (stream) => stream.range(0.5, 1),
    (stream) => stream.range(bad, 3),
    (stream) => stream.range(0, 0, { answer: "worst" as "best" }),
  ]);
}

/** Counts the states that this pair of streams went through. */
function note({ wasm, options }: Pair, tally: Tally): void {
  if ("method" in options) return tally.add(`method ${options.method}`);
  const { variant, smoother, maxRange } = options;
  const { fanout } = options.tuning;
  const { skipLevels, blockLength, threshold, levels } = wasm.statement();
  const forest = Math.ceil(maxRange / blockLength) * blockLength;
  tally.add(`variant ${variant}`);
  tally.add(
    `smoother ${typeof smoother === "object" ? Object.keys(smoother)[0] : typeof smoother === "function" ? "own" : smoother}`,
  );
  tally.add(`skipLevels ${skipLevels}`);
  if (options.threshold === undefined && threshold !== null) tally.add("hold-out crossed");
  if (options.tuning.refine === true && wasm.length >= fanout ** (levels - 1) * blockLength)
    tally.add("second choice of θ");
  if (wasm.length > forest) tally.add("forest crossed");
  if (wasm.length > 3 * forest && options.history === undefined) tally.add("forest forgotten");
  if (fanout === 16) tally.add("fanout 16");
}
