/** The third screen of brume demo: hot paths of the paper, the WASM kernel beside its TypeScript twin in this very run. */
import type { Core } from "../core/core.js";
import { makeConsistent } from "../core/js/consistency.js";
import { jsCore } from "../core/js/index.js";
import { Purpose, subStream } from "../core/random.js";
import { makeScale } from "../core/tables/scale.js";
import { makeSelection } from "../core/tables/selection.js";
import { makeTransition } from "../core/tables/transition.js";
import { groupCount, leafCount, nodeCount } from "../core/tree.js";
import { unsafeKey } from "../core/unsafeKey.js";
import { makeWasmCore } from "../core/wasm/index.js";
import { Arena, loadNoiseKernels } from "../core/wasm/instance.js";
import { cellProbabilities } from "../local/moments.js";
import { BINS, squareWave } from "../local/mechanisms.js";
import { valueStream } from "../stream/holdoutStream.js";
import { bold } from "./colour.js";
import { EXAMPLE } from "./example.js";
import { table } from "./table.js";
import { wrap } from "./wrap.js";

export interface HotPath {
  readonly path: string;
  /** Milliseconds of the fastest call: on a busy machine, the one that nothing interrupted. */
  readonly wasmMs: number;
  readonly jsMs: number;
  /** Whether the two cores gave the same bits, as they must. */
  readonly same: boolean;
}

/** A call on one core; what it returns must be the same on both. */
type Call = (core: Core) => Float64Array;

const HELD_OUT = 65_536;
const RELEASED = 2 ** 20;
const STEPS = 64;
/** Milliseconds that one path is measured for, and the least number of turns: the first ones are slow, uncompiled. */
const TURN = 300;
const LEAST_ROUNDS = 30;

/** Nothing here is released, so a fixed key is no danger: both cores draw the same. */
const random = () => subStream(unsafeKey("demo"), Purpose.baseline, 0, 0);

/** @param values of the built-in stream */
export function measureHotPaths(values: Float64Array): HotPath[] {
  const wasmCore = makeWasmCore();
  return Object.entries(PATHS).map(([path, prepare]) => measure(path, prepare(values), wasmCore));
}

/** Each is prepared when it is measured: what one puts into WASM memory, the next overwrites. */
const PATHS: Record<string, (values: Float64Array) => Call> = {
  [`noisy max over [1, B], B = ${(1000 * EXAMPLE.max).toLocaleString("en")}`]: noisyMax,
  "consistency of 2²⁰ leaves, 16 trees": consistency,
  [`${STEPS} steps of Square Wave EM over ${BINS} bins`]: emSteps,
  "exact noise, 65,536 samples": noise,
  "ingest of 2²⁰ values into blocks of 256": ingest,
  "ToPS as a whole, 2²⁰ values published": release,
};

/** The held-out values in thousandths, so that there are a million candidates. */
function noisyMax(values: Float64Array): Call {
  const candidates = 1000 * EXAMPLE.max;
  const selection = makeSelection({
    ...{ candidates, step: 1, holdout: HELD_OUT, epsilon: 1, releaseEpsilon: 1 },
    ...{ maxRange: RELEASED, fanout: 16, noise: "exponential" },
  });
  const bins = Uint32Array.from({ length: HELD_OUT }, (_, i) =>
    Math.min(candidates, 1000 * values[i]! + ((i * 7919) % 1000)),
  );
  return (core) => Float64Array.of(core.noisyMax(random(), bins, selection));
}

/** A tree at a time in the same memory, as noise is drawn and made consistent in a release. */
function consistency(): Call {
  const [fanout, levels, trees] = [16, 5, 16];
  const leaves = leafCount(fanout, levels);
  const nodes = Float64Array.from(
    { length: nodeCount(fanout, levels) },
    (_, i) => ((i * 7919) % 10007) - 5003,
  );
  const kernels = loadNoiseKernels();
  const arena = new Arena(kernels); // made-up noise: nothing to wipe
  const [tree, excess] = [arena.put(nodes), arena.take((nodes.length - leaves) * 8)];
  return (core) => {
    let corrections = new Float64Array(0);
    for (let i = 0; i < trees; i++)
      if (core.name === "js") corrections = new Float64Array(makeConsistent(nodes, fanout, levels));
      else kernels.makeConsistent(tree, leaves, fanout, excess);
    return core.name === "js" ? corrections : arena.copy(excess, groupCount(fanout, levels));
  };
}

function emSteps(): Call {
  const mechanism = squareWave(1);
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const counts = Float64Array.from({ length: BINS }, (_, i) => ((i * 7919) % 97) + 20);
  return (core) => {
    const estimates = new Float64Array((STEPS + 1) * BINS).fill(1 / BINS, 0, BINS);
    core.emSteps(transition, counts, false, estimates, new Float64Array(STEPS * BINS));
    return estimates;
  };
}

function noise(): Call {
  const scale = makeScale(4096n, 1n);
  const out = new Float64Array(65_536);
  return (core) => {
    core.laplace(random(), scale, out);
    return out;
  };
}

function ingest(values: Float64Array): Call {
  const part = values.subarray(0, RELEASED);
  return (core) => {
    const sums = new Float64Array(RELEASED / 256);
    core.blockSums(part, 500, 1, 256, 0, 0, sums, Infinity);
    return sums;
  };
}

function release(values: Float64Array): Call {
  return (core) =>
    valueStream({
      ...{ epsilon: 0.1, max: EXAMPLE.max, holdout: HELD_OUT, core: core.name },
      unsafeSeed: "demo",
    }).pushMany(values);
}

/** Cores take turns, so that a busy moment of the machine hits both. */
function measure(path: string, call: Call, wasmCore: Core): HotPath {
  const same = sameBits(call(wasmCore).slice(), call(jsCore));
  let [wasmMs, jsMs] = [Infinity, Infinity];
  const start = performance.now();
  for (let round = 0; round < LEAST_ROUNDS || performance.now() - start < TURN; round++) {
    wasmMs = Math.min(wasmMs, timed(call, wasmCore));
    jsMs = Math.min(jsMs, timed(call, jsCore));
  }
  return { path, wasmMs, jsMs, same };
}

function timed(call: Call, core: Core): number {
  const started = performance.now();
  call(core);
  return performance.now() - started;
}

function sameBits(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}

export function showHotPaths(paths: readonly HotPath[]): string {
  const ms = (time: number): string => Number(time.toPrecision(3)).toString();
  return [
    bold("Hot paths: AssemblyScript kernel beside its TypeScript twin, measured just now"),
    "",
    table(
      ["path", "WASM, ms", "TypeScript, ms", "gain", "same bits"],
      paths.map(({ path, wasmMs, jsMs, same }) => [
        path,
        ms(wasmMs),
        ms(jsMs),
        `${(jsMs / wasmMs).toFixed(1)} ×`,
        same ? "yes" : "NO",
      ]),
    ),
    wrap(
      "The fastest of many calls in turns, copies included except for consistency, whose noise is drawn in WASM memory. npm run bench has more paths and opponents; docs/paper.md says which part of the paper each one is.",
    ),
  ].join("\n");
}
