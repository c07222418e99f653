/** Reports of one day, drawn with the kernels and counted. */
import { Purpose, subStream } from "../../src/core/random.js";
import type { Mechanism } from "../../src/core/tables/sectors.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { addCells, emptyTally, type ReportCounts } from "../../src/local/dayTally.js";
import { dayWindow } from "../../src/local/mechanisms.js";

const core = makeWasmCore();
const DAY = { start: 0, end: 86_400_000 };

/** Draws tallies of one ε, one after the other, from a seed. */
export class Draws {
  readonly mechanism: Mechanism;
  readonly #random;

  constructor(epsilon: number, seed: string) {
    this.mechanism = dayWindow(epsilon);
    this.#random = subStream(unsafeKey(seed), Purpose.reports, 2, 0);
  }

  /** @param values from 0 to `theta`; larger ones are clamped */
  tally(values: Float64Array, theta: number): ReportCounts {
    const { mechanism } = this;
    const cells = new Uint32Array(values.length);
    const quantiser = { scale: (mechanism.top + 1) / theta, shift: 0 };
    core.fillReports(this.#random, mechanism, quantiser, values, cells);
    return addCells(emptyTally(DAY, theta), cells, mechanism);
  }
}

/**
 * Most misses of N intervals that miss with probability 1 − confidence: more come with odds below 10⁻⁹ (six standard deviations).
 */
export const mostMisses = (draws: number, confidence = 0.95): number =>
  Math.ceil(draws * (1 - confidence) + 6 * Math.sqrt(draws * confidence * (1 - confidence)));
