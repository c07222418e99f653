/**
 * What does the noise of one day cost, drawn and made consistent? Opponents: the same in JavaScript, and float noise with a
 * dense least-squares solve, which takes the cube of the nodes: it is left out where a day has more than 1,500 leaves.
 */
import type { Core } from "../src/core/core.js";
import type { DayShape } from "../src/core/dayShape.js";
import { jsCore } from "../src/core/js/index.js";
import { Purpose, subStream } from "../src/core/random.js";
import { makeScale } from "../src/core/tables/scale.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { DAY, resolveLevels } from "../src/events/days/calendar.js";
import { DayPeriods } from "../src/events/days/dayPeriods.js";
import { measure, type Row } from "./harness.js";

const key = unsafeKey("bench");
const CASES = [
  ["1h", "1d"],
  ["1m", "1h", "1d"],
  ["10s", "1m", "1h", "1d"],
] as const;
const MOST_DENSE = 1500;

export async function* rows(): AsyncGenerator<Row> {
  const wasm = makeWasmCore();
  for (const levels of CASES) {
    const { shape } = new DayPeriods({ start: 0, end: DAY }, resolveLevels(levels[0], levels));
    const scale = makeScale(BigInt(levels.length), 1n); // ε = 1, a count
    const grow = (core: Core) => () =>
      void core.growDay(
        subStream(key, Purpose.dayLeaves, 0, 0),
        subStream(key, Purpose.dayNodes, 0, 0),
        scale,
        shape,
      );
    yield await measure({
      path: "days",
      case: `a day of ${levels.join("·")}: ${shape.sizes[0]} leaves`,
      wasm: grow(wasm),
      js: grow(jsCore),
      ...(shape.sizes[0]! <= MOST_DENSE ? { naive: () => void denseDay(shape, levels.length) } : {}),
    });
  }
}

/**
 * The least-squares estimate of every leaf, as a textbook has it: A has a row per node and a column per leaf; solve
 * AᵀA·x = Aᵀy by Cholesky's method. In doubles, and so not private (its low bits give the data away).
 */
export function denseDay(shape: DayShape, scale: number, noise = floatNoise(shape, scale)): Float64Array {
  const leaves = shape.sizes[0]!;
  const gram = Array.from({ length: leaves }, () => new Float64Array(leaves));
  const right = new Float64Array(leaves);
  for (const [node, [from, to]] of nodesOf(shape).entries())
    for (let i = from; i < to; i++) {
      right[i]! += noise[node]!;
      for (let j = from; j < to; j++) gram[i]![j]! += 1;
    }
  return solve(gram, right);
}

/** The leaves of every node, in the order of the shape. */
function nodesOf({ sizes, fanouts }: DayShape): [from: number, to: number][] {
  const nodes = Array.from({ length: sizes[0]! }, (_, i): [number, number] => [i, i + 1]);
  let child = 0;
  for (const fanout of fanouts) {
    nodes.push([nodes[child]![0], nodes[child + fanout - 1]![1]]);
    child += fanout;
  }
  return nodes;
}

/** By Cholesky's method, in place. */
function solve(a: readonly Float64Array[], b: Float64Array): Float64Array {
  const n = b.length;
  for (let i = 0; i < n; i++) {
    const row = a[i]!;
    for (let j = 0; j <= i; j++) {
      const other = a[j]!;
      let sum = row[j]!;
      for (let k = 0; k < j; k++) sum -= row[k]! * other[k]!;
      row[j] = i === j ? Math.sqrt(sum) : sum / other[j]!;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) b[i]! -= a[i]![k]! * b[k]!;
    b[i]! /= a[i]![i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) b[i]! -= a[k]![i]! * b[k]!;
    b[i]! /= a[i]![i]!;
  }
  return b;
}

/** Laplace noise in doubles for every node. */
function floatNoise({ sizes }: DayShape, scale: number): Float64Array {
  const count = sizes.reduce((sum, size) => sum + size, 0);
  const words = crypto.getRandomValues(new Uint32Array(Math.min(count, 16_384)));
  return Float64Array.from({ length: count }, (_, i) => {
    const u = (words[i % words.length]! + 0.5) / 2 ** 32 - 0.5;
    return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
  });
}
