/**
 * An aggregator of days against hostile reports, clocks and callers. Whoever sends reports may lie about a value and about
 * nothing else: no report may count twice, stop the server, move θ of a running day, or change what others are told.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { aggregator, type Aggregator, reporter } from "../../src/index.js";
import type { AggregatorOptions } from "../../src/local/aggregatorOptions.js";
import { encodeDays } from "../../src/local/dayState.js";
import { binCells } from "../../src/local/dayTally.js";
import { noRejections } from "../../src/local/intake.js";
import { dayWindow } from "../../src/local/mechanisms.js";
import { packReport } from "../../src/reporter.js";
import { skewed } from "../support/localValues.js";

const DAY = 86_400_000;
const OPTIONS = { epsilon: 2, max: 1000 };
const time = { now: 0 };
const make = (more: Partial<AggregatorOptions> = {}) =>
  aggregator({ ...OPTIONS, clock: () => time.now, ...more });
const reports = (count: number, seed: string, threshold = 1000) =>
  reporter({ ...OPTIONS, threshold, unsafeSeed: seed }).reportMany(skewed(count, seed));

/** At noon of the second day, with θ from the first. */
async function secondDay(): Promise<{ readonly server: Aggregator; readonly theta: number }> {
  time.now = DAY / 2;
  const server = make();
  await server.terms();
  server.add(reports(1000, "first"));
  time.now += DAY;
  return { server, theta: (await server.terms()).threshold };
}

describe("reports that are none", () => {
  const right = reporter({ ...OPTIONS, unsafeSeed: "one" }).report(5);
  const cells = [
    NaN,
    -1,
    -0.5,
    0.5,
    Infinity,
    2 ** 21,
    2 ** 53,
    1e308,
    "5",
    "",
    null,
    undefined,
    {},
    [],
    true,
    5n,
  ];
  test.each([
    ...cells.map((cell) => ["cell", cell] as const),
    ...[NaN, 2 ** 32, -1, 1.5, "7", null, 5n].map((grid) => ["grid", grid] as const),
    ...[0, 1, 3, NaN, "2", 2n, null].map((version) => ["version", version] as const),
    ...["learn", "release", 1, null, {}].map((phase) => ["phase", phase] as const),
  ])("%s: %s counts nothing but a rejection", (field, wrong) => {
    const server = make();
    const before = { ...server.between(0, 2 * DAY), next: 0 };
    expect(server.add([{ ...right, [field]: wrong }])).toBe(0);
    expect(Object.values(server.rejected).reduce((sum, count) => sum + count, 0)).toBe(1);
    expect({ ...server.between(0, 2 * DAY), next: 0 }).toEqual(before);
  });

  test("every flipped bit of a packed report is rejected, or another cell of the same grid", () => {
    const packed = packReport(right);
    for (let bit = 0; bit < 64; bit++) {
      const server = make();
      const flipped = packed.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const taken = server.add(flipped);
      expect(taken + Object.values(server.rejected).reduce((sum, count) => sum + count, 0)).toBe(1);
      if (taken === 1) expect(bit >> 3 === 0 || bit >> 3 > 3).toBe(false); // neither version and phase nor grid
    }
  });
});

describe("θ that is not of the day", () => {
  test("all 321 but those of the day and the day before are rejected", async () => {
    const { server, theta } = await secondDay();
    const shares = Array.from({ length: 20 }, (_, k) =>
      Array.from({ length: 16 }, (_, m) => (1000 * (17 + m)) / 32 / 2 ** k),
    ).flat();
    let taken = 0;
    for (const threshold of [...shares, 1000 * 2 ** -20])
      taken += server.add([reporter({ ...OPTIONS, threshold }).report(3)]);
    expect(taken).toBe(2);
    expect(server.rejected).toMatchObject({ grid: 319, stale: 0 });
    expect(server.between(DAY, 2 * DAY)).toMatchObject({ reports: 2, clipped: { threshold: theta } });
  });

  test("reports cannot move θ within their day, however many", async () => {
    const { server, theta } = await secondDay();
    server.add(reporter({ ...OPTIONS, threshold: theta }).reportMany(new Float64Array(20_000).fill(1000)));
    expect((await server.terms()).threshold).toBe(theta);
    time.now += DAY;
    expect((await server.terms()).threshold).toBe(2 * theta); // all of them above: once up, the next day
  });
});

describe("clocks", () => {
  test("set back over midnight: θ that devices were told stays good, nothing is lost, and days keep their reports", async () => {
    const { server, theta } = await secondDay();
    server.add(reports(10, "today", theta));
    time.now -= DAY; // the first day again
    expect(await server.terms()).toMatchObject({ threshold: 1000, until: DAY });
    expect(server.add(reports(20, "told before", theta))).toBe(20);
    expect(server.add(reports(30, "yesterday's"))).toBe(30);
    expect(server.between(0, 2 * DAY)).toMatchObject({ reports: 1050 }); // today is to come once more
    time.now += DAY;
    expect(await server.terms()).toMatchObject({ threshold: theta, until: 2 * DAY });
    expect(server.between(0, 2 * DAY)).toMatchObject({ reports: 1060 });
    expect(server.series("1d", 0, 2 * DAY).answers.map((day) => day.reports)).toEqual([1050, 10]);
  });

  test("a year ahead and back: θ of today is as it was, and reports count today", async () => {
    const { server, theta } = await secondDay();
    const now = time.now;
    time.now += 365 * DAY;
    await server.terms();
    time.now = now;
    expect(await server.terms()).toMatchObject({ threshold: theta, until: 2 * DAY });
    expect(server.add(reports(10, "back", theta))).toBe(10);
    expect(server.last("1d")).toMatchObject({ reports: 1000 });
  });

  test("a clock that is none stops the call, and changes nothing", async () => {
    const { server } = await secondDay();
    const before = server.tally();
    for (const wrong of [NaN, Infinity, "now", undefined]) {
      (time as { now: unknown }).now = wrong;
      expect(() => server.add(reports(1, "x"))).toThrow(/^clock: expected milliseconds since 1970/);
      await expect(server.terms()).rejects.toThrow(/^clock: expected/);
    }
    expect(server.tally()).toEqual(before);
  });

  test("a report of a day that is no longer kept is refused, not counted and dropped", () => {
    time.now = 0;
    const server = make({ follow: false });
    const batch = reports(1, "one");
    for (let day = 0; day < 401; day++) expect(server.add(batch, day * DAY)).toBe(1);
    expect(server.reports).toBe(400); // the first one has gone
    const before = server.tally();
    expect(() => server.add(batch, 0)).toThrow(/^at: expected a time of the 400 days that are kept/);
    expect(server.tally()).toEqual(before);
    expect(server.add(batch, DAY)).toBe(1);
  });
});

describe("callers who share work", () => {
  const aborted = (): AbortSignal => {
    const stop = new AbortController();
    setTimeout(() => stop.abort());
    return stop.signal;
  };

  /** Every pause of an estimate lets other work run, however fast the machine is. */
  beforeEach(() => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  });
  afterEach(() => vi.restoreAllMocks());

  test("one who stops the choice of θ stops it for nobody else", async () => {
    time.now = DAY / 2;
    const server = make();
    server.add(reports(2000, "first"));
    time.now += DAY;
    const [stopped, ...others] = await Promise.allSettled([
      server.terms({ signal: aborted() }),
      server.terms(),
      server.terms(),
    ]);
    expect(stopped.status).toBe("rejected"); // or the test shows nothing
    const again = make();
    again.merge(server);
    const wanted = await again.terms();
    expect(others).toEqual([
      { status: "fulfilled", value: wanted },
      { status: "fulfilled", value: wanted },
    ]);
  });

  test("one who stops an estimate, or whose onProgress throws, stops it for nobody else", async () => {
    const { server } = await secondDay();
    const failing = {
      onProgress: () => {
        throw new Error("mine");
      },
    };
    for (const runs of [() => ({ signal: aborted() }), () => failing]) {
      server.add(reports(1, "one more")); // another estimate
      const [stopped, one, two] = await Promise.allSettled([
        server.quantile(0.5, runs()),
        server.quantile(0.5),
        server.histogram(),
      ]);
      expect([stopped.status, one.status, two.status]).toEqual(["rejected", "fulfilled", "fulfilled"]);
    }
  });
});

describe("tallies from elsewhere", () => {
  test("merges in any order and grouping give the same bytes, over midnight and with late reports", async () => {
    const { server: leader, theta } = await secondDay();
    const terms = await leader.terms();
    const parts = [0, 1, 2, 3].map((i) => {
      const worker = make();
      if (i > 0) worker.follow(terms); // one was started before midnight and knows yesterday's θ alone
      worker.add(reports(50 + i, `worker ${i}`, i > 0 ? theta : 1000));
      worker.add(reports(3, `late ${i}`));
      worker.add([{ version: 9, grid: 0, cell: 0 }]);
      return worker.tally();
    });
    const merged = (order: readonly number[]): Uint8Array => {
      const all = make();
      all.merge(leader);
      for (const i of order) all.merge(parts[i]!);
      return all.tally();
    };
    const wanted = merged([0, 1, 2, 3]);
    for (const order of [
      [3, 2, 1, 0],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ])
      expect(merged(order)).toEqual(wanted);
    const [left, right] = [make(), make()];
    left.merge(parts[2]!);
    left.merge(parts[0]!);
    right.merge(parts[1]!);
    right.merge(parts[3]!);
    right.merge(left);
    right.merge(leader);
    expect(right.tally()).toEqual(wanted);
  });

  test("a sum of cells that its counts cannot have is refused", () => {
    time.now = DAY / 2;
    const mechanism = dayWindow(2);
    const wide = binCells(mechanism);
    const tallied = (cells: number): Uint8Array => {
      const counts = new Float64Array(1024);
      [counts[3], counts[1023]] = [2, 1];
      const tally = { day: { start: 0, end: DAY }, theta: 1000, reports: 3, cells, counts };
      return encodeDays({
        ...{ epsilon: 2, max: 1000, start: 1000, zone: "UTC", rejected: noRejections() },
        ...{ decided: undefined, choices: [], tallies: [tally] },
      });
    };
    const [least, most] = [2 * 3 * wide + 1023 * wide, 2 * (4 * wide - 1) + mechanism.cells - 1];
    for (const cells of [0, least - 1, most + 1, 3 * (mechanism.cells - 1)])
      expect(() => make().merge(tallied(cells))).toThrow(/^tally: expected the bytes that tally\(\) makes/);
    for (const cells of [least, most]) {
      const server = make();
      server.merge(tallied(cells));
      expect(server.reports).toBe(3);
    }
  });
});
