/** Is it worth being lazy? Opponents: the same in JavaScript, and float noise for every θ, which is not even exact. */
import { jsCore } from "../src/core/js/index.js";
import { makeSelection, penalty, type Selection } from "../src/core/tables/selection.js";
import { Purpose, subStream } from "../src/core/random.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { measureTogether, type Row } from "./harness.js";

type Bins = Uint16Array | Uint32Array;

const HOLDOUT = 65_536;
const random = () => subStream(unsafeKey("bench"), Purpose.threshold, 0, 0);

export async function* rows(): AsyncGenerator<Row> {
  const wasmCore = makeWasmCore();
  for (const candidates of [2 ** 20, 41_270, 2000]) {
    const selection = makeSelection({
      candidates,
      step: 1,
      holdout: HOLDOUT,
      epsilon: 1,
      releaseEpsilon: 1,
      maxRange: 2 ** 20,
      fanout: 16,
      noise: "exponential",
    });
    const bins = exponentialBins(candidates);
    const copy = bins.slice();
    const words = Uint32Array.from(bins); // one type of array only: V8 then compiles the scans for it
    const contenders = {
      path: "noisy-max",
      wasm: () => wasmCore.noisyMax(random(), bins, selection),
      js: () => jsCore.noisyMax(random(), bins, selection),
      limit: () => copy.set(bins),
    };
    const slope = penalty(selection, candidates) / selection.countWeight / candidates;
    const what = `B = ${candidates.toLocaleString("en")}, m = ${HOLDOUT.toLocaleString("en")}`;
    yield* await measureTogether([
      { ...contenders, case: what, naive: () => floatScan(words, candidates, slope, 1) },
      {
        ...contenders,
        case: `${what}; naive: exact noise for every θ`,
        naive: () => exactScan(words, selection),
      },
    ]);
  }
}

/** Long-tailed values with a mean of a twentieth of the range, as u16 where they fit. */
function exponentialBins(n: number): Bins {
  const bins = n <= 65_536 ? new Uint16Array(HOLDOUT) : new Uint32Array(HOLDOUT);
  const next = uniforms();
  return bins.map(() => Math.min(n, Math.floor((-Math.log(next()) * n) / 20)));
}

/** Noisy max as one would write it: histogram, scores from the top down, a float sample for each. */
function floatScan(bins: Uint32Array, n: number, slope: number, epsilon: number): number {
  const next = uniforms();
  const inside = new Uint32Array(n + 1);
  for (let i = 0; i < bins.length; i++) inside[bins[i]!]!++;
  let [above, best, winner] = [0, -Infinity, 0];
  for (let i = n; i >= 1; i--) {
    above += inside[i]!;
    const score = -above - slope * i - Math.log(next()) / epsilon;
    if (score >= best) {
      best = score;
      winner = i;
    }
  }
  return winner;
}

/** Noisy max as one would write it, with exact noise. */
function exactScan(bins: Uint32Array, selection: Selection): number {
  const noise = new Float64Array(selection.candidates);
  jsCore.geometric(random(), selection.scale, noise);
  const inside = new Uint32Array(selection.candidates + 1);
  for (let i = 0; i < bins.length; i++) inside[bins[i]!]!++;
  let [above, best, winner] = [0, -Infinity, 0];
  for (let i = selection.candidates; i >= 1; i--) {
    above += inside[i]!;
    const score = noise[i - 1]! - selection.countWeight * above - penalty(selection, i);
    if (score >= best) {
      best = score;
      winner = i;
    }
  }
  return winner;
}

/** Numbers in (0, 1] by xorshift: cheaper than any randomness a release could use, which favours the opponent. */
function uniforms(): () => number {
  let x = 0x9e3779b9;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return ((x >>> 0) + 1) / 2 ** 32;
  };
}
