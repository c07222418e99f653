/**
 * Both cores at both ends of every parameter: ε, `max` and θ, tiny and huge, and what lies just beyond. A parameter is
 * accepted by both cores with the same answers in every bit, or refused by both with the same words.
 */
import { describe, expect, test } from "vitest";
import { outcome, same } from "../../scripts/fuzz/compare.js";
import {
  aggregator,
  privateCounter,
  privateHistogram,
  privateStream,
  reporter,
  type StreamOptions,
} from "../../src/index.js";

type CoreName = "wasm" | "js";

const EPSILONS = [5e-324, 1e-300, 1e-12, 1e-9, 1e-3, 1, 24, 1e3, 1e5, 1e6, 1e9, 1.7e308];
const MAXIMA = [5e-324, 1e-308, 1e-250, 1e-9, 1, 1e9, 2 ** 40, 2 ** 53, 1e250, 1.7e308];
/** θ as a part of `max`. */
const PARTS = [1, 0.75, 2 ** -10, 2 ** -19, 2 ** -20, 2 ** -21, 2 ** -30];

/** Values at and beyond both ends of [0, max]. */
const valuesOf = (max: number) => [0, -0, 5e-324, max / 3, max / 2, max, 2 * max, -max, max * 2 ** -20];
const finite = (values: readonly number[]) => values.filter(Number.isFinite);

/** Runs it on both cores; says whether it was accepted. */
function agrees(run: (core: CoreName) => unknown): boolean {
  const [wasm, js] = (["wasm", "js"] as const).map((core) => outcome(run, core));
  if (!same(wasm, js)) expect(js).toEqual(wasm);
  expect(same(wasm, js)).toBe(true); // toEqual does not tell all bits apart
  return typeof wasm !== "string";
}

/** How many of the combinations are accepted, so that a test in which all are refused is seen. */
function combinations(run: (core: CoreName, epsilon: number, max: number, part: number) => unknown): number {
  let accepted = 0;
  for (const epsilon of EPSILONS)
    for (const max of MAXIMA)
      for (const part of PARTS) accepted += Number(agrees((core) => run(core, epsilon, max, part)));
  return accepted;
}

describe("positions", () => {
  const base = { maxRange: 16, tuning: { fanout: 2, skipLevels: 1 }, unsafeSeed: "extremes" } as const;
  const run = (options: StreamOptions) => {
    const stream = privateStream(options);
    const values = finite(Array.from({ length: 6 }, () => valuesOf(options.max)).flat());
    const published = stream.pushMany(values);
    const length = Math.min(stream.length, 16);
    return [published, stream.range(stream.length - length, stream.length), stream.statement().threshold];
  };

  test("θ is given", () => {
    const accepted = combinations((core, epsilon, max, part) =>
      run({ ...base, epsilon, max, threshold: part * max, core }),
    );
    expect(accepted).toBeGreaterThan(30);
  });

  test("θ is chosen", () => {
    for (const variant of ["default", "paper"] as const) {
      const accepted = combinations((core, epsilon, max, part) => {
        const tuning = { ...base.tuning, resolution: part * max };
        return run({ ...base, epsilon, max, tuning, variant, holdout: 16, core });
      });
      expect(accepted).toBeGreaterThan(30);
    }
  });
});

describe("events", () => {
  const TEN = Date.UTC(2026, 2, 1, 10);
  const base = {
    ...{ every: "1m", levels: ["1m", "1h"], clock: () => TEN, unsafeSeed: "extremes", skew: "2d" },
  } as const;
  const at = (i: number) => TEN + 15_000 * i;

  test.each(["sum", "mean"] as const)("%s, with θ given or chosen", (of) => {
    const accepted = combinations((core, epsilon, max, part) => {
      const chosen = part === 1 ? { holdout: 0, every: "1h", levels: ["1h"] } : { threshold: part * max };
      const stream = privateStream({ ...base, epsilon, max, of, ...chosen, core });
      finite([...valuesOf(max), ...valuesOf(max)]).forEach((value, i) => stream.add(value, { at: at(i) }));
      const closed = stream.advance(part === 1 ? TEN + 36e5 * 16 : TEN + 540_000);
      return [closed, stream.between(TEN + 240_000, TEN + 540_000), stream.statement().threshold];
    });
    expect(accepted).toBeGreaterThan(30);
  });

  test("counters and histograms", () => {
    let accepted = 0;
    for (const epsilon of EPSILONS)
      for (const perPerson of [undefined, { events: 1000, people: 1 }] as const) {
        const options = { ...base, epsilon, ...(perPerson === undefined ? {} : { perPerson }) };
        const event = (i: number) => ({ at: at(i), ...(perPerson === undefined ? {} : { person: "ann" }) });
        const counted = agrees((core) => {
          const counter = privateCounter({ ...options, core });
          for (let i = 0; i < 20; i++) counter.add(event(i));
          return [counter.advance(TEN + 540_000), counter.between(TEN, TEN + 540_000)];
        });
        const edges = [-1.7e308, -1, -5e-324, 0, 5e-324, 1, 1.7e308];
        const bucketed = agrees((core) => {
          const histogram = privateHistogram({ ...options, edges, core });
          [...edges, -0, 0.5, 2].forEach((value, i) => histogram.add(value, event(i)));
          return [
            histogram.advance(TEN + 540_000),
            histogram.between(TEN, TEN + 540_000, { quantiles: [0.5] }),
          ];
        });
        accepted += Number(counted) + Number(bucketed);
      }
    expect(accepted).toBeGreaterThan(12);
  });
});

test("devices and their server: reports, estimates and θ", async () => {
  const accepted = combinations((core, epsilon, max, part) => {
    const values = finite(valuesOf(max));
    const threshold = part * max;
    const learning = reporter({
      variant: "paper",
      epsilon,
      max,
      phase: "learn",
      unsafeSeed: "extremes",
      core,
    });
    const releasing = reporter({
      variant: "paper",
      epsilon,
      max,
      phase: "release",
      threshold,
      unsafeSeed: "extremes",
      core,
    });
    const [learn, release] = [learning.reportMany(values), releasing.reportMany(values)];
    const server = aggregator({ variant: "paper", epsilon, max, threshold, holdout: values.length, core });
    return [learn, release, server.learn(learn), server.release(release), server.total(), server.tally()];
  });
  expect(accepted).toBeGreaterThan(30);
  for (const epsilon of [0.01, 20])
    for (const max of [1e-250, 1, 1e250]) {
      const thetas = await Promise.all(
        (["wasm", "js"] as const).map(async (core) => {
          const server = aggregator({ variant: "paper", epsilon, max, holdout: 9, core });
          server.learn(
            reporter({ variant: "paper", epsilon, max, phase: "learn", unsafeSeed: "θ" }).reportMany(
              valuesOf(max),
            ),
          );
          return [await server.threshold(), await server.quantile(0.5), (await server.distribution()).shares];
        }),
      );
      expect(same(thetas[0], thetas[1])).toBe(true);
    }
});
