/** Aggregators of many workers add up to one; θ that is known; sums of reports as whole numbers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PaperAggregator } from "../../../src/local/paper/paperAggregator.js";
import { hybrid } from "../../../src/local/mechanisms.js";
import { estimateOf } from "../../../src/local/moments.js";
import { RecentReports } from "../../../src/local/paper/recentReports.js";
import { estimatedSum, sumsOf } from "../../../src/local/paper/sums.js";
import { TALLY_BYTES } from "../../../src/local/paper/tally.js";
import { reportsOf, skewed, uniforms } from "../../support/localValues.js";

const OPTIONS = { epsilon: 1, max: 1000, holdout: 4000, maxRange: 2 ** 16 };
const learn = reportsOf(skewed(4000, "merge"), "learn");
const part = (bytes: Uint8Array, from: number, to: number) => bytes.subarray(8 * from, 8 * to);

describe("workers", () => {
  test("three of them learn, release and answer as one does, in every bit, in any order", async () => {
    const one = new PaperAggregator(OPTIONS);
    one.learn(learn);
    const theta = await one.threshold();
    const release = reportsOf(skewed(9000, "more"), "release", { threshold: theta });
    one.release(release);

    const workers = [0, 1, 2].map(() => new PaperAggregator(OPTIONS));
    [0, 1000, 1500].forEach((from, i) => workers[i]!.learn(part(learn, from, [1000, 1500, 4000][i]!)));
    const leader = new PaperAggregator(OPTIONS);
    for (const worker of [...workers].reverse()) leader.merge(worker.tally());
    expect(leader.learned).toBe(4000);
    expect(await leader.threshold()).toBe(theta);
    expect(await leader.distribution()).toEqual(await one.distribution());

    const releasing = [0, 1, 2].map(() => new PaperAggregator({ ...OPTIONS, threshold: theta }));
    releasing.forEach((worker, i) => worker.release(part(release, 3000 * i, 3000 * (i + 1))));
    for (const worker of releasing) leader.merge(worker);
    expect(leader.total()).toEqual(one.total());
    expect(one.total()).toEqual(one.range(0, 9000));
    expect([leader.released, leader.length]).toEqual([9000, 0]);
    expect(leader.statement().stages).toEqual(one.statement().stages);
  });

  test("θ travels with a tally; another θ, other parameters and the same object are refused, and change nothing", async () => {
    const chosen = new PaperAggregator(OPTIONS);
    chosen.learn(learn);
    const theta = await chosen.threshold();
    const fresh = new PaperAggregator(OPTIONS);
    fresh.merge(chosen);
    expect(await fresh.threshold()).toBe(theta);
    expect(fresh.statement().expectedClipping).toBe(chosen.statement().expectedClipping);
    const other = new PaperAggregator({ ...OPTIONS, threshold: theta / 2 });
    const before = fresh.tally();
    expect(() => fresh.merge(other)).toThrow(
      `merge: expected a tally with θ = ${theta}, got one with θ = ${theta / 2}`,
    );
    expect(() => fresh.merge(new PaperAggregator({ ...OPTIONS, max: 999 }))).toThrow(
      /^merge: expected a tally of the same ε and max/,
    );
    expect(() => fresh.merge(fresh)).toThrow(/^merge: expected another aggregator/);
    expect(fresh.tally()).toEqual(before);
  });

  test("a tally has one length, and nothing but a tally is merged", () => {
    const [empty, full] = [new PaperAggregator(OPTIONS), new PaperAggregator(OPTIONS)];
    full.learn(learn);
    expect([empty.tally().length, full.tally().length]).toEqual([TALLY_BYTES, TALLY_BYTES]);
    const server = new PaperAggregator(OPTIONS);
    for (const wrong of [new Uint8Array(5), new Uint8Array(TALLY_BYTES), undefined, "tally", {}])
      expect(() => server.merge(wrong as Uint8Array)).toThrow(/^tally: expected/);
    const damaged = (at: number, value: number) => {
      const bytes = full.tally();
      new DataView(bytes.buffer).setFloat64(at, value, true);
      return bytes;
    };
    const [counts, theta, reports] = [6 + 8, TALLY_BYTES - 16 - 40, TALLY_BYTES - 16 - 24];
    for (const bytes of [
      damaged(counts, -1),
      damaged(counts, 0.5),
      damaged(counts, NaN),
      damaged(counts, 2 ** 53),
    ])
      expect(() => server.merge(bytes)).toThrow(/^tally: expected whole numbers/);
    expect(() => server.merge(damaged(theta, 77))).toThrow(/^threshold: expected one of/);
    expect(() => server.merge(damaged(reports, 5))).toThrow(
      /^tally: expected sums that release-reports can have/,
    );
    expect([server.learned, server.released]).toEqual([0, 0]);
  });

  test("a batch that merges while it is read is an error", () => {
    const server = new PaperAggregator(OPTIONS);
    const nested = function* (): Generator<Uint8Array> {
      server.merge(new PaperAggregator(OPTIONS));
      yield part(learn, 0, 1);
    };
    expect(() => server.learn(nested())).toThrow(/^merge: expected no call while a batch is being read/);
  });
});

describe("a θ that is known", () => {
  test("release-reports are taken at once, and nobody claims to know what clamping hides", async () => {
    const server = new PaperAggregator({ ...OPTIONS, threshold: 62.5 });
    expect(await server.threshold()).toBe(62.5);
    server.release(reportsOf([10, 20, 30], "known", { threshold: 62.5 }));
    expect(server.total()).toMatchObject({ clipped: null });
    expect(server.explain()).toContain("θ was given");
    expect(() => new PaperAggregator({ ...OPTIONS, threshold: 62.4 })).toThrow(
      /^threshold: expected one of the 321/,
    );
    expect(server.learn(learn)).toBe(4000); // for percentiles
    expect((await server.quantile(0.5)).p).toBe(0.5);
  });

  test("a state continues in every bit, also when old reports are gone", () => {
    const options = { ...OPTIONS, threshold: 62.5, history: 700 };
    const release = reportsOf(skewed(5000, "state"), "state", { threshold: 62.5 });
    for (const cut of [0, 1, 300, 700, 701, 2048, 3333]) {
      const [whole, before] = [new PaperAggregator(options), new PaperAggregator(options)];
      whole.release(release);
      before.release(part(release, 0, cut));
      const after = PaperAggregator.resume(options, before.state);
      after.release(part(release, cut, 5000));
      expect(after.total()).toEqual(whole.total());
      for (const [from, to] of [
        [4300, 5000],
        [4301, 4302],
        [4500, 4900],
      ] as const)
        expect(after.range(from, to)).toEqual(whole.range(from, to));
      expect(() => after.range(4299, 5000)).toThrow(/positions before 4300 are no longer kept/);
      expect(after.state).toEqual(whole.state);
    }
  });
});

describe("sums", () => {
  test.each([0.3, 1, 6])("follow from whole numbers, ε = %d", (epsilon) => {
    const mechanism = hybrid(epsilon);
    const cells = Uint32Array.from(
      uniforms(3000, "cells"),
      (u, i) => Math.floor(u * mechanism.cells - (i % 2)) >>> 0,
    ).map((cell) => Math.min(cell, mechanism.cells - 1));
    const oneByOne = cells.reduce((sum, cell) => sum + estimateOf(mechanism, cell), 0);
    // 3000 additions of numbers below 10³: 3·10⁶ · 3000 · 2⁻⁵³ < 10⁻⁶.
    expect(Math.abs(estimatedSum(sumsOf(cells, mechanism), mechanism) - oneByOne)).toBeLessThan(1e-6);
  });

  test("of any range of the recent reports are the sums of its cells", () => {
    const mechanism = hybrid(1);
    const cells = Uint32Array.from(uniforms(6000, "ring"), (u) => Math.floor(u * mechanism.cells));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 12 }),
        fc.array(
          fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
        ),
        (history, batches, asked) => {
          const recent = new RecentReports(history, mechanism);
          let count = 0;
          for (const size of batches) {
            const end = Math.min(6000, count + size);
            recent.add(cells.subarray(count, end));
            count = end;
          }
          expect([recent.count, recent.oldest]).toEqual([count, Math.max(0, count - history)]);
          expect(recent.kept).toEqual(cells.slice(recent.oldest, count));
          for (const [a, b] of asked) {
            const place = (share: number) => recent.oldest + Math.floor(share * (count - recent.oldest));
            const [from, to] = [place(Math.min(a, b)), place(Math.max(a, b))];
            expect(recent.between(from, to)).toEqual(sumsOf(cells.subarray(from, to), mechanism));
          }
        },
      ),
    );
  });
});

test("what is not known yet stands as −1 in a tally: other versions read it", () => {
  const bytes = new PaperAggregator(OPTIONS).tally();
  const numbers = (bytes.length - 6 - 16) / 8;
  const known = (i: number) => new DataView(bytes.buffer).getFloat64(6 + 8 * i, true);
  // θ and excess come before the numbers of reports, windowed reports and ones.
  expect([1, 2, 3, 4, 5].map((i) => known(numbers - i))).toEqual([0, 0, 0, -1, -1]);
});
