/** The kernels, one at a time: random arguments, both cores, every output and the place in the keystream compared. */
import { chooseCore } from "../../src/core/choose.js";
import type { Core } from "../../src/core/core.js";
import { makeDayShape } from "../../src/core/dayShape.js";
import { COLUMNS, TAIL_WORDS, TOP_COLUMNS } from "../../src/core/layout.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { type Random, Purpose, subStream } from "../../src/core/random.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { hybrid, squareWave } from "../../src/local/mechanisms.js";
import { makeChoice } from "../../src/stream/holdout/choice.js";
import { outcome, same } from "./compare.js";
import type { Dice } from "./dice.js";
import type { Tally } from "./tally.js";

const wasm = chooseCore("wasm");
const js = chooseCore("js");

type Call = (core: Core, random: Random) => unknown;

/** Makes exactly `calls` calls of one kernel and compares each. */
export function driveKernel(dice: Dice, calls: number, tally: Tally): void {
  const name = dice.pick(NAMES);
  const next = KERNELS[name]!(dice);
  const key = Uint32Array.from({ length: 8 }, () => dice.word());
  for (let i = 1; i <= calls; i++) {
    const random = subStream(key, Purpose.baseline, 1, i);
    const position = dice.pick([0, dice.below(100), 2 ** 36 - 1 - dice.below(40), dice.below(2 ** 32)]);
    const call = next();
    const [a, b] = [called(wasm, call, { ...random, position }), called(js, call, { ...random, position })];
    if (!same(a, b)) throw new Error(`kernel ${name}, call ${i}: cores differ`);
  }
  tally.add(`kernel ${name}`, calls);
}

/** Outcome of a call, and how far it read. */
function called(core: Core, call: Call, random: Random): unknown {
  const came = outcome(() => call(core, random));
  // At the end of a sub-stream both refuse, and each says how far it had read ahead.
  return [typeof came === "string" ? came.split(", got")[0] : came, random.position];
}

/** Each takes dice for what is costly to set up, and gives a maker of calls. */
const KERNELS: Record<string, (dice: Dice) => () => Call> = {
  keystream: (dice) => () => {
    const words = dice.below(200);
    return (core, random) => filled(new Uint32Array(words), (out) => core.keystream(random, out));
  },
  digits: (dice) => () => {
    const outcomes = 1 + dice.below(256);
    const [ratio, part, share] = [randomLong(dice), randomLong(dice), randomLong(dice)];
    const negative = dice.chance(0.5) ? null : share;
    const law = { outcomes, ratio, first: part / BigInt(outcomes + 1), negative };
    const columns = negative === null ? COLUMNS : TOP_COLUMNS;
    return (core) =>
      filled([new Uint32Array(columns), new Uint32Array(TAIL_WORDS * columns)] as const, (table) =>
        core.fillDigit(law, ...table),
      );
  },
  samples: (dice) => {
    const scale = randomScale(dice);
    return () => {
      const sampler = dice.pick(["laplace", "geometric"] as const);
      const count = dice.below(100);
      return (core, random) => filled(new Float64Array(count), (out) => core[sampler](random, scale, out));
    };
  },
  trees: (dice) => {
    const [fanout, levels] = dice.pick([
      [2, 1],
      [2, 6],
      [3, 4],
      [16, 3],
      [64, 2],
      [2 + dice.below(63), 2],
    ] as const);
    const scale = randomScale(dice);
    return () => (core, random) => core.growTree(random, scale, fanout, levels);
  },
  days: (dice) => {
    const scale = randomScale(dice);
    const shape = randomDay(dice);
    return () => {
      const [column, day] = [dice.below(64), 2 ** 47 + dice.scaled(1, 2 ** 41)];
      return (core, { key }) =>
        core.growDay(
          subStream(key, Purpose.dayLeaves, column * 2 ** 16, Math.floor(day)),
          subStream(key, Purpose.dayNodes, column, Math.floor(day)),
          scale,
          shape,
        );
    };
  },
  noisyMax: (dice) => {
    const candidates = dice.pick([1, 2, 100, 1000, 1 + dice.below(5000)]);
    const holdout = 1 + dice.below(300);
    const selection = makeSelection({
      candidates,
      step: dice.scaled(0.01, 10),
      holdout,
      epsilon: dice.scaled(0.001, 20),
      releaseEpsilon: dice.scaled(0.001, 20),
      maxRange: 2 ** 20,
      fanout: 16,
      noise: dice.pick(["exponential", "laplace"]),
    });
    return () => {
      const bins = new (dice.pick([Uint16Array, Uint32Array]))(holdout).map(() => dice.below(candidates + 1));
      return (core, random) => core.noisyMax(random, bins, selection);
    };
  },
  heldOut: (dice) => {
    const step = dice.pick([1, 32]);
    const [max, resolution] = dice.pick([
      [100, 1],
      [100, 1 / 32],
      [37.5, 0.1],
      [1e6, 1],
    ] as const);
    const table = makeChoice(dice.scaled(0.01, 4), 1000, 2 ** 16, Math.floor(max / resolution), step);
    return () => {
      const values = Float64Array.from(
        { length: dice.below(900) },
        () => dice.unit() * 1.2 * max - 0.1 * max,
      );
      const purposes = new Uint8Array(32).map(() => dice.below(5));
      const first = dice.below(32);
      return (core) =>
        filled(new Float64Array(6 * (table.candidates.length + 1)).fill(3), (counters) =>
          core.countHeldOut(values, max, resolution, table, purposes, first, counters),
        );
    };
  },
  reports: (dice) => {
    const mechanism = dice.pick([hybrid, squareWave])(dice.scaled(0.01, 8));
    const quantiser = { scale: mechanism.top / 100, shift: dice.pick([0, 0.5]) };
    return () => {
      const values = Float64Array.from({ length: dice.below(100) }, () => dice.unit() * 140 - 20);
      return (core, random) =>
        filled(new Uint32Array(values.length), (out) =>
          core.fillReports(random, mechanism, quantiser, values, out),
        );
    };
  },
  emSteps: (dice) => {
    const n = dice.pick([8, 64, 256]);
    const inside = dice.scaled(1 / n, 4 / n) / n;
    const transition = makeTransition(n, n, 1 + dice.below(n), inside, inside / dice.scaled(2, 20));
    return () => {
      const counts = Float64Array.from({ length: n }, () => dice.below(50));
      const smooth = dice.chance(0.5);
      return (core) => {
        const estimates = new Float64Array(4 * n).fill(1 / n, 0, n);
        const predicted = new Float64Array(3 * n);
        core.emSteps(transition, counts, smooth, estimates, predicted);
        return { estimates, predicted };
      };
    };
  },
  texts: (dice) => () => {
    const bytes = randomText(dice);
    const table = { delimiter: 44, column: dice.below(3), fields: 1 + dice.below(3) };
    const path = dice.pick([["x"], ["x", "y"]]).map((name) => new TextEncoder().encode(name));
    return (core) => {
      const out = Array.from({ length: 3 }, () => new Float64Array(8));
      const lines = core.scanLines(bytes, out[0]!);
      const rows = core.scanCsv(bytes, table, out[1]!);
      return { lines, rows, objects: core.scanJson(bytes, path, out[2]!), out };
    };
  },
  ingest: (dice) => () => {
    const n = 1 + dice.below(40);
    const taken = dice.below(n);
    const values = Float64Array.from({ length: dice.below(300) }, () => dice.unit() * 140 - 20);
    if (dice.chance(0.1) && values.length > 0) values[dice.below(values.length)] = dice.pick([NaN, Infinity]);
    const [theta, resolution] = dice.pick([
      [100, 1],
      [64, 0.25],
      [37.5, 0.1],
    ] as const);
    const limit = dice.pick([Infinity, theta, 0, -25]);
    const blocks = Math.floor((taken + values.length) / n);
    return (core) => {
      const sums = new Float64Array(blocks);
      const running = core.blockSums(values, theta, resolution, n, taken, 5, sums, limit);
      const published = new Float64Array(values.length);
      core.publishBlocks(
        Float64Array.from({ length: blocks + 1 }, (_, i) => i / 3),
        sums,
        n,
        taken,
        published,
      );
      return { running, sums, published };
    };
  },
};

const NAMES = Object.keys(KERNELS);

/** The periods of a day: regular fan-outs with a short first and last node, or any fan-outs; 1 to 4 levels. */
function randomDay(dice: Dice) {
  const fanouts: number[][] = [];
  let size = 1 + dice.below(3);
  const any = dice.chance(0.3);
  for (let level = 1 + dice.below(4); level > 1; level--) {
    const usual = dice.pick([1, 2, 4, 6, 24, 60]);
    const children = Array.from({ length: size }, () => (any ? 1 + dice.below(usual) : usual));
    children[0] = 1 + dice.below(usual);
    children[size - 1] = 1 + dice.below(usual);
    fanouts.unshift(children);
    const nodes = children.reduce((sum, count) => sum + count, 0);
    if (nodes > 2000) break; // calls are many
    size = nodes;
  }
  return makeDayShape(fanouts[0]?.reduce((sum, count) => sum + count, 0) ?? size, fanouts);
}

function filled<T>(out: T, fill: (out: T) => void): T {
  fill(out);
  return out;
}

/** Lines that begin well: numbers, rows, objects, and what may go wrong in each. */
function randomText(dice: Dice): Uint8Array {
  const number = () => dice.pick(["1", "-2.50", "3e2", "+4", "0", "12345678901234567", ".5", "1e-22", " 6 "]);
  const line = dice.pick([
    number,
    () => `${number()},"a ""b\n""",${number()}`,
    () => `"${number()}",é`,
    () => `{"a":[true,null,{"x":1}],"x":${number()},"b":"\\u00e9\\n"}`,
    () => `{ "x" : { "y" : "${number()}" , "z" : false } }`,
  ]);
  const text = Array.from({ length: 1 + dice.below(9) }, line).join(dice.pick(["\n", "\r\n"]));
  const bytes = new TextEncoder().encode(`${text}\n`);
  if (dice.chance(0.5)) bytes[dice.below(bytes.length)] = dice.pick([34, 44, 10, 13, 92, 123, 125, 0, 255]);
  return bytes;
}

/** Below 2²⁵⁶, often with long runs of ones or zeros. */
function randomLong(dice: Dice): bigint {
  const word = () => dice.pick([0, 1, 2 ** 32 - 1, dice.word()]);
  return Array.from({ length: 8 }, word).reduce((sum, next) => (sum << 32n) | BigInt(next), 0n);
}

function randomScale(dice: Dice) {
  const t = dice.pick([1, 0.3, 100, dice.scaled(2 ** -20, 2 ** 39)]);
  return makeScale(BigInt(Math.ceil(t * 2 ** 12)), 1n << 12n);
}
