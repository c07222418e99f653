/**
 * An hour of a busy service: 10⁶ lognormal latencies (σ = 1) in ticks of 1 s, ε = 1 for one person with 5 events. The
 * events are put into ticks once; each run has noise of its own.
 */
import { expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { normalQuantile } from "../../src/core/normal.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { TickedHistogram } from "../../src/events/histogram.js";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import { Decoder, Encoder } from "../../src/stream/codec.js";

const [EVENTS, SECONDS, RUNS] = [1_000_000, 3600, 120];
const TEN = Date.UTC(2026, 2, 1, 10);
const core = chooseCore("wasm");
const settings = {
  ...resolveHistogram({
    epsilon: 1,
    perPerson: { events: 5, every: "1d" },
    every: "1s",
    origin: TEN,
    maxRange: "1d",
    perTick: EVENTS / SECONDS,
    edges: { min: 1, max: 60_000 },
    skew: "1h",
    clock: () => TEN,
  }),
  limitedBefore: true, // 200,000 people with 5 events each: none is over the limit
};

/** By their quantiles, in milliseconds with a median of 50, shuffled by a stride that is prime to their number. */
function values(): Float64Array {
  return Float64Array.from({ length: EVENTS }, (_, i) => {
    const p = (((i * 7919) % EVENTS) + 0.5) / EVENTS;
    return 50 * Math.exp(Math.sign(p - 0.5) * normalQuantile(Math.abs(2 * p - 1)));
  });
}

function filled(): Uint8Array {
  const histogram = new TickedHistogram(settings, core, unsafeKey("hour"));
  values().forEach((value, i) => histogram.takeInto(Math.floor((i * SECONDS) / EVENTS), value));
  const writer = new Encoder();
  histogram.snapshots.write(writer);
  return writer.bytes;
}

/** The share of all events that are below a value: the values are the quantiles of their distribution. */
function rankOf(value: number, all: Float64Array): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low / all.length;
}

test("p50, p95 and p99 of an hour: rank errors below half a percent, and intervals that cover", () => {
  const state = filled();
  const all = values().sort();
  const asked = [0.5, 0.95, 0.99];
  const runs = Array.from({ length: RUNS }, (_, run) => {
    const key = unsafeKey("run");
    key[0] = run;
    const histogram = new TickedHistogram(settings, core, key);
    const reader = new Decoder(state);
    reader.words(8); // the key of the one that was filled
    reader.double(); // its origin
    histogram.load(reader);
    histogram.advance(TEN + 1000 * SECONDS);
    return histogram.between(TEN, TEN + 1000 * SECONDS, { quantiles: asked }).quantiles;
  });
  asked.forEach((p, i) => {
    const errors = runs.map((quantiles) => Math.abs(rankOf(quantiles[i]!.value!, all) - p));
    expect(Math.max(...errors)).toBeLessThan(0.005);
    const covered = runs.filter((quantiles) => {
      const { low, high } = quantiles[i]!;
      const truth = all[Math.ceil(p * EVENTS) - 1]!;
      return low! <= truth && truth <= high!;
    }).length;
    // Binomial with p = 0.95: below 99 of 120 with odds of 1.3·10⁻⁷, for each of the three.
    expect(covered).toBeGreaterThanOrEqual(99);
  });
});
