/**
 * How often do intervals of days hold, draw by draw on fixed data? The mean of the clamped values and the share that θ clamps,
 * for each of the eight distributions and seven hard populations. The share is asked for in every tenth draw: it takes most of the time.
 *
 *     npm run measure -- local --days coverage --runs 5000
 */
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { addCells, emptyTally } from "../../src/local/dayTally.js";
import { localAnswer } from "../../src/local/localAnswer.js";
import { sumInterval } from "../../src/local/meanInterval.js";
import { dayWindow } from "../../src/local/mechanisms.js";
import { FRESH, HARD } from "./freshValues.js";

const EPSILONS = [0.3, 1, 4, 16];
const SIZES = [1, 3, 10, 100, 2000];
const MAX = 1000;
const SELDOM = 10;
const DAY = { start: 0, end: 86_400_000 };
const WINDOW = { from: 0, to: DAY.end, complete: true, next: null };

/** Values of one population with their θ: the hard ones reach it, of the others 0.5 or 20 % lie above. */
function* populations(n: number): Generator<[name: string, theta: number, values: Float64Array]> {
  for (const [name, share] of Object.entries(HARD))
    yield [name, MAX / 2, Float64Array.from({ length: n }, (_, i) => (MAX / 2) * share(i, n))];
  for (const [name, value] of Object.entries(FRESH)) {
    const spread = Float64Array.from({ length: n }, (_, i) => value((i + 0.5) / n));
    for (const above of [0.005, 0.2]) {
      const high = Float64Array.from({ length: 1000 }, (_, i) => value((i + 0.5) / 1000)).sort();
      const unit = MAX / 2 / high[Math.floor(1000 * (1 - above))]!;
      yield [name, MAX / 2, spread.map((x) => Math.min(MAX, unit * x))];
    }
  }
}

/** Shares of draws in which both intervals hold, least over ε and θ; one line per population. */
export function coverage(draws: number): void {
  const core = makeWasmCore();
  const least = new Map<string, number[]>();
  SIZES.forEach((n, column) => {
    for (const epsilon of EPSILONS) {
      const mechanism = dayWindow(epsilon);
      const random = subStream(unsafeKey(`coverage ${n} ${epsilon}`), Purpose.reports, 2, 0);
      const cells = new Uint32Array(n);
      for (const [name, theta, values] of populations(n)) {
        const quantiser = { scale: (mechanism.top + 1) / theta, shift: 0 };
        const counted = values.reduce((sum, x) => sum + Math.min(theta, x), 0);
        const clamped = values.filter((x) => x >= (theta * 1023) / 1024).length / n;
        const held = [0, 0];
        for (let draw = 0; draw < draws; draw++) {
          core.fillReports(random, mechanism, quantiser, values, cells);
          const tally = addCells(emptyTally(DAY, theta), cells, mechanism);
          const { low, high } = sumInterval([tally], mechanism, 0.95);
          if (low <= counted && counted <= high) held[0]!++;
          if (draw % SELDOM !== 0) continue;
          const { clipped } = localAnswer(WINDOW, [tally], mechanism, MAX, 0.95);
          if (clipped!.low <= clamped && clamped <= clipped!.high) held[1]! += SELDOM;
        }
        const line = least.get(name) ?? new Array<number>(2 * SIZES.length).fill(1);
        held.forEach((count, i) => {
          const at = column + i * SIZES.length;
          line[at] = Math.min(line[at]!, count / draws);
        });
        least.set(name, line);
      }
    }
  });
  const sizes = SIZES.map((n) => n.toLocaleString("en")).join(" | ");
  console.log(`| values | mean: ${sizes} | clamped share: ${sizes} |`);
  console.log(`|${" --- |".repeat(1 + 2 * SIZES.length)}`);
  for (const [name, line] of least)
    console.log(`| ${name} | ${line.map((share) => (100 * share).toFixed(1)).join(" | ")} |`);
  const all = [...least.values()].flat();
  console.log(`\nleast of ${all.length}: ${(100 * Math.min(...all)).toFixed(1)} %`);
}
