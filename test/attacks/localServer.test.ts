/**
 * A malicious server sends each device what it likes: ε, max, phase, θ. It wants reports that say more than ε allows, or that
 * say which device they come from.
 */
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { nearestThreshold, THRESHOLD_COUNT } from "../../src/local/channel.js";
import { paperChannel } from "../../src/local/paper/paperChannel.js";
import { aggregator, reporter, type PaperReporterOptions } from "../../src/index.js";
import { packReport } from "../../src/reporter.js";

const cores = [jsCore, makeWasmCore()];
const MAX = 500;
const release =
  (threshold: unknown, max = MAX) =>
  () =>
    reporter({ variant: "paper", epsilon: 1, max, phase: "release", threshold } as PaperReporterOptions);

describe("θ so small that 2²⁰/θ overflows", () => {
  // Before: 0·∞ is NaN, and a quarter of the reports of value 0 had the cell NaN; no report of value 1 had.
  test.each([1e-303, 5e-324, Number.MIN_VALUE * 3, 2 ** -1022, (MAX * 2 ** -20) / 2])("θ = %s", (theta) => {
    expect(release(theta)).toThrow(/^threshold: expected a number from 0.000476\d+ to 500, got/);
  });

  test.each([1e-303, 1e-260, 1e260, Number.MAX_VALUE])("max = %s, which moves θ with it", (max) => {
    expect(release(max, max)).toThrow(/^max: expected/);
    expect(() => reporter({ variant: "paper", epsilon: 1, max, phase: "learn" })).toThrow(/^max: expected/);
    expect(() => aggregator({ epsilon: 1, max })).toThrow(/^max: expected/);
  });

  test.each([NaN, Infinity, -1, 0, "400", 400n, Symbol("θ"), null, undefined, [MAX], { valueOf: () => MAX }])(
    "θ = %s is no number that is above 0 and finite",
    (theta) => expect(release(theta)).toThrow(/^threshold: expected/),
  );
});

describe("θ as a name tag", () => {
  // Before: θ, θ(1 + 2⁻⁵²), θ(1 + 2⁻⁵¹) … gave each device a `grid` of its own, which its reports carry.
  test("of 10 000 thresholds around one, a device takes only that one", () => {
    const theta = MAX / 4;
    const taken = new Set<number>();
    for (let i = -5000; i <= 5000; i++) {
      const tag = theta * (1 + i * 2 ** -44);
      try {
        release(tag)();
        taken.add(tag);
      } catch (error) {
        expect((error as Error).message).toMatch(/^threshold: expected one of the 321 public thresholds/);
      }
    }
    expect([...taken]).toEqual([theta]);
  });

  test.each([1, 3, 500, 0.1, 1e-250, 1e250, Math.PI])("321 thresholds exist for max = %s", (max) => {
    const all = new Set<number>();
    for (let share = 1; share > 2 ** -22; share *= 0.999) all.add(nearestThreshold(share * max, max));
    expect(all.size).toBe(321);
    expect(THRESHOLD_COUNT).toBe(321);
    const sorted = [...all].sort((a, b) => a - b);
    expect(sorted[0]! / max).toBeCloseTo(2 ** -20, 20);
    expect(sorted.at(-1)).toBe(max);
    for (const theta of sorted) expect(nearestThreshold(theta, max)).toBe(theta);
    for (let i = 1; i < sorted.length; i++)
      expect(sorted[i]! / sorted[i - 1]!).toBeLessThan(1 + 1 / 16 + 1e-9);
  });

  test("the honest server's own θ is one of them, for any data", async () => {
    for (const top of [0.3, 7, 100, MAX]) {
      const server = aggregator({ variant: "paper", epsilon: 1, max: MAX, holdout: 2000, maxRange: 4096 });
      const device = reporter({
        variant: "paper",
        epsilon: 1,
        max: MAX,
        phase: "learn",
        unsafeSeed: "honest",
      });
      server.learn(device.reportMany(Array.from({ length: 2000 }, (_, i) => (i / 2000) * top)));
      expect(release(await server.threshold())).not.toThrow();
    }
  });
});

describe("ε and phase", () => {
  test.each([0, -1, NaN, Infinity, 1e-7, 24.1, 5e-324, "1", 1n, Symbol("ε"), null, undefined])(
    "ε = %s",
    (epsilon) => {
      expect(() =>
        reporter({ variant: "paper", epsilon, max: MAX, phase: "learn" } as PaperReporterOptions),
      ).toThrow(/^epsilon: expected/);
    },
  );
  test.each(["both", "__proto__", "toString", 0, null, undefined, Symbol("phase"), 1n])(
    "phase = %s",
    (phase) => {
      expect(() =>
        reporter({ variant: "paper", epsilon: 1, max: MAX, phase } as PaperReporterOptions),
      ).toThrow(/^phase: expected/);
    },
  );
});

describe("whatever is accepted: every finite value gives a cell of the grid, the same in both cores", () => {
  const EPSILONS = [1e-6, 0.61, 0.62, 1, 24];
  const MAXES = [1e-250, 2 ** -500, 1, 500, 1e15, 1e250];
  const values = (bound: number) =>
    Float64Array.of(
      ...[0, -0, 5e-324, 2 ** -1022, -1, -Number.MAX_VALUE, Number.MAX_VALUE, 2 ** 53 + 1, 1e-300, 1e300],
      ...[
        bound,
        bound * (1 - 2 ** -53),
        bound * (1 + 2 ** -52),
        bound / 2,
        bound * 2 ** -20,
        bound * 2 ** -21,
      ],
      ...Array.from({ length: 50 }, (_, i) => (i / 40) * bound),
    );

  test.each(MAXES)("max = %s", (max) => {
    for (const epsilon of EPSILONS)
      for (const [phase, bound] of [
        ["learn", max],
        ["release", max],
        ["release", nearestThreshold(max * 2 ** -20, max)],
        ["release", nearestThreshold(max * 0.3, max)],
      ] as const) {
        const { mechanism, quantiser } = paperChannel(phase, epsilon, bound);
        const batch = values(bound);
        const [js, wasm] = cores.map((core) => {
          const out = new Uint32Array(batch.length).fill(2 ** 32 - 1);
          core.fillReports(
            subStream(unsafeKey("ends"), Purpose.reports, 0, 0),
            mechanism,
            quantiser,
            batch,
            out,
          );
          return out;
        });
        expect(wasm).toEqual(js);
        expect(Math.max(...js!)).toBeLessThan(mechanism.cells);
        const options = {
          variant: "paper" as const,
          epsilon,
          max,
          phase,
          unsafeSeed: "ends",
          ...(phase === "release" && { threshold: bound }),
        };
        const device = reporter(options);
        for (const value of batch) {
          const { cell } = device.report(value);
          expect(Number.isInteger(cell) && cell >= 0 && cell < mechanism.cells).toBe(true);
        }
      }
  });

  test("the server's numbers stay finite with the largest max and the smallest ε", async () => {
    const settings = { epsilon: 1e-6, max: 1e250 };
    const server = aggregator({ variant: "paper", ...settings, holdout: 10, maxRange: 1024 });
    const learning = reporter({ variant: "paper", ...settings, phase: "learn", unsafeSeed: "huge" });
    server.learn(learning.reportMany(new Array<number>(10).fill(1e250)));
    const threshold = await server.threshold();
    const releasing = reporter({
      variant: "paper",
      ...settings,
      phase: "release",
      threshold,
      unsafeSeed: "huge",
    });
    const published = server.release(releasing.reportMany(new Array<number>(1000).fill(1e250)));
    expect(published.every(Number.isFinite)).toBe(true);
    expect(Object.values(server.range(0, 1000)).every(Number.isFinite)).toBe(true);
  });
});

test("a report packs whole or not at all", () => {
  const report = reporter({ variant: "paper", epsilon: 1, max: MAX, phase: "learn" }).report(3);
  for (const wrong of [{ cell: NaN }, { cell: 2 ** 24 }, { grid: -1 }, { version: 16 }, { phase: "both" }])
    expect(() => packReport({ ...report, ...wrong } as never)).toThrow(
      /^(cell|grid|version|phase): expected/,
    );
});
