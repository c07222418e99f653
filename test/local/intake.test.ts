import { describe, expect, test } from "vitest";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { noRejections } from "../../src/local/intake.js";
import { packReport, type Report, unpackReport } from "../../src/local/report.js";
import { paperChannel } from "../../src/local/paper/paperChannel.js";
import { device, learnt, OPTIONS, ready, unpacked } from "../support/aggregators.js";

describe("reports that are none", () => {
  const good = unpackReport(learnt)!;
  const BAD: [string, unknown, string][] = [
    ["nothing", undefined, "malformed"],
    ["a number", 7, "malformed"],
    ["an empty object", {}, "malformed"],
    ["too few bytes", new Uint8Array(7), "malformed"],
    ["an unknown phase in bytes", Uint8Array.of(0x2f, 0, 0, 0, 0, 0, 0, 0), "malformed"],
    ["another version", { ...good, version: 1 }, "version"],
    ["another phase", { ...good, phase: "release" }, "phase"],
    ["another ε or max", { ...good, grid: good.grid ^ 1 }, "grid"],
    ["a cell beyond the grid", { ...good, cell: 2 ** 22 }, "cell"],
    ["a negative cell", { ...good, cell: -1 }, "cell"],
    ["half a cell", { ...good, cell: 0.5 }, "cell"],
    ["no cell", { ...good, cell: undefined }, "cell"],
  ];

  test.each(BAD)("%s", (_, report, reason) => {
    const server = new PaperAggregator(OPTIONS);
    expect(server.learn([good, report as Report, good])).toBe(2);
    expect(server.rejected).toEqual({ ...noRejections(), [reason]: 1 });
  });

  test("are refused for the same reason among bytes end to end", () => {
    const packable = BAD.flatMap(([, report]): Uint8Array[] => {
      if (report instanceof Uint8Array) return report.length === 8 ? [report] : [];
      const { cell } = (report ?? {}) as Partial<Report>;
      return Number.isInteger(cell) && cell! >= 0 ? [packReport(report as Report)] : [];
    });
    expect(packable).toHaveLength(5);
    const batch = [packReport(good), ...packable.flatMap((bytes) => [bytes, packReport(good)])];
    const [apart, together] = [new PaperAggregator(OPTIONS), new PaperAggregator(OPTIONS)];
    expect(apart.learn(batch)).toBe(6);
    expect(together.learn(Uint8Array.from(batch.flatMap((bytes) => [...bytes])))).toBe(6);
    expect(together.rejected).toEqual(apart.rejected);
    const early = packReport(device("release", "r", 62.5).report(1));
    for (const server of [apart, together]) server.release(server === apart ? [early] : early);
    expect(together.rejected).toEqual(apart.rejected);
  });

  test("they change neither θ nor what is published", async () => {
    const { theta } = await ready();
    const server = new PaperAggregator(OPTIONS);
    const all = unpacked(learnt);
    server.learn([...all.slice(0, 50), ...(BAD.map(([, report]) => report) as Report[]), ...all.slice(50)]);
    expect(await server.threshold()).toBe(theta);
    const reports = unpacked(device("release", "r", theta).reportMany([1, 2, 3]));
    const stale = device("release", "r", theta / 2).report(1);
    const clean = (await ready()).server.release(reports);
    expect(server.release([reports[0]!, stale, good, reports[1]!, reports[2]!])).toEqual(clean);
    expect(server.length).toBe(3);
  });

  test("release-reports before θ is known, and bytes cut short, are counted", () => {
    const server = new PaperAggregator(OPTIONS);
    expect(server.release([device("release", "r", 62.5).report(1)])).toHaveLength(0);
    expect(server.rejected.phase).toBe(1);
    expect(server.learn(learnt.subarray(0, 12))).toBe(1);
    expect(server.rejected.malformed).toBe(1);
    expect(() => server.learn(5 as never)).toThrow(/^reports: expected an iterable/);
  });
});

test("cells end where the grid ends, one by one and among bytes end to end", () => {
  const { version, grid } = unpacked(learnt)[0]!;
  const phase = "learn" as const;
  const { cells } = paperChannel("learn", OPTIONS.epsilon, OPTIONS.max).mechanism;
  const [last, beyond] = [cells - 1, cells].map((cell) => ({ version, phase, grid, cell }));
  for (const batch of [
    [last!, beyond!],
    Uint8Array.from([last!, beyond!].flatMap((report) => [...packReport(report)])),
  ]) {
    const server = new PaperAggregator(OPTIONS);
    expect([server.learn(batch), server.rejected.cell]).toEqual([1, 1]);
  }
});

test("the cells of a learn-report fall into 1024 bins of equal width", () => {
  const { version, grid } = unpacked(learnt)[0]!;
  const phase = "learn" as const;
  const { cells } = paperChannel("learn", OPTIONS.epsilon, OPTIONS.max).mechanism;
  const binOf = (cell: number) => {
    const server = new PaperAggregator(OPTIONS);
    expect(server.learn([{ version, phase, grid, cell }])).toBe(1);
    const counts = new DataView(server.tally().buffer);
    return Array.from({ length: 1024 }, (_, i) => counts.getFloat64(14 + 8 * i, true)).indexOf(1);
  };
  for (const bin of [1, 2, 500, 1022, 1023]) {
    const first = Math.ceil((bin * cells) / 1024);
    expect([binOf(first - 1), binOf(first)]).toEqual([bin - 1, bin]);
  }
  expect([binOf(0), binOf(cells - 1)]).toEqual([0, 1023]);
});
