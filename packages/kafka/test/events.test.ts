import { describe, expect, test } from "vitest";

import { heartbeat } from "../src/clock.js";
import { MemoryCluster } from "../src/memory/memoryCluster.js";
import type { NewRecord } from "../src/port.js";
import { readPublishedFrom } from "../src/readPublished.js";
import type { KeyedStreamOptions } from "../src/streams.js";
import type { Published } from "../src/values.js";
import { makeWorker, type WorkerOptions } from "../src/worker.js";
import { allUncommitted } from "./support/judge.js";
import { makeTopics, RIGHT, settled, testOptions, until } from "./support/workload.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** One partition; events and heartbeats are sent one by one. */
async function cluster(name: string, more: Partial<WorkerOptions>) {
  const port = new MemoryCluster().port();
  const options = testOptions(name, { values: "json", format: "json", ...more });
  await makeTopics(port, options, 1);
  const send = (records: NewRecord[]) => port.send([{ topic: options.in, partition: 0, records }]);
  const published = async (key: string) => {
    const all: Published[] = [];
    const { out: topic, format = "json" } = options;
    for await (const one of readPublishedFrom(port, { topic, format, toEnd: true }))
      if (one.name === key) all.push(one);
    return all;
  };
  return {
    ...{ port, options, send, published },
    beat: (...times: number[]) =>
      send(times.map((time) => heartbeat(time, (options.stream as { zone?: string }).zone))),
    event: (key: string, value: object | number, timestamp: number) =>
      send([{ key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)), timestamp }]),
    /** Starts and length of a key's periods, in a unit. */
    periods: async (key: string, unit: number) =>
      (await published(key)).map(({ from, to }) => [from! / unit, (to! - from!) / unit]),
    /** Runs a worker until it has published everything; the judge compares it with a single process. */
    work: async () => {
      const worker = makeWorker(port, options);
      await worker.start();
      const verdict = await settled(port, options);
      await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
      await worker.stop();
      expect(verdict).toMatchObject(RIGHT);
      return worker.stats();
    },
  };
}

const seconds = { every: "1s", levels: ["1s", "10s"] } as const;
const kinds = {
  sums: { epsilon: 1, ...seconds, max: 100, threshold: 100 },
  counts: { epsilon: 1, ...seconds, of: "count" },
  means: { epsilon: 100, ...seconds, of: "mean", max: 100, threshold: 100 },
  histograms: { epsilon: 1, ...seconds, edges: [10, 20, 40] },
} satisfies Record<string, KeyedStreamOptions>;

/** Noise is 0, but for odds below e⁻⁶⁴ each. */
const loud = { epsilon: 384, of: "count" } as const;

describe.each(["json", "binary"] as const)("%s", (format) => {
  test.each(Object.entries(kinds))(
    "%s: each heartbeat closes the same periods after restarts, one record per key and period",
    async (name, stream) => {
      const { port, options, beat, event, published, periods } = await cluster(name, {
        stream: { ...stream, lateness: "500ms" },
        format,
      });
      await beat(10 * SECOND);
      for (let second = 10; second < 20; second++) {
        const worker = makeWorker(port, options);
        await worker.start();
        await event("a", 30, second * SECOND + 1);
        await event(second % 2 === 0 ? "a" : "b", { value: 15 }, (second + 1) * SECOND);
        await event("a", 7, 3 * SECOND); // late: it changes nothing
        await beat((second + 1) * SECOND + 500);
        await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
        await worker.stop();
      }
      const verdict = await settled(port, options);
      const finest = (await published("a")).filter(({ from, to }) => to! - from! === SECOND);
      if (name !== "means") {
        // b begins with second 12, the first that begins after the clock at its first record.
        expect(verdict).toMatchObject({ ...RIGHT, committed: 11 + 8, streams: 2 });
        expect(await periods("a", SECOND)).toEqual([
          ...Array.from({ length: 10 }, (_, i) => [10 + i, 1]),
          [10, 10],
        ]);
      }
      const all = await published("a");
      expect(verdict).toMatchObject(RIGHT);
      expect(all.map(({ position }) => position)).toEqual([...all.keys()]);
      const [whole] = all.slice(-1);
      expect(all.every(({ low, value, high }) => low! <= value && value <= high!)).toBe(true);
      expect(all.every(({ count }) => (count === undefined) === (name !== "means"))).toBe(true);
      expect(all.every(({ counts }) => counts?.length === (name === "histograms" ? 4 : undefined))).toBe(
        true,
      );
      // Numbers add up, and the longer period has less noise than its parts together.
      if (name === "means") return expect(whole!.count).toBeCloseTo(15, 0);
      expect(finest.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(whole!.value, 4);
      expect(whole!.standardError).toBeLessThan(2 * finest[0]!.standardError!);
    },
  );
});

test("intervals of published records hold the truth", async () => {
  const SECONDS = 120;
  const { beat, send, published, work } = await cluster("truth", {
    stream: { epsilon: 1, of: "count", every: "1s", levels: ["1s"] },
  });
  const truth = (second: number): number => (second === 60 ? 400 : (second * 7) % 13);
  await beat(0);
  for (let second = 0; second < SECONDS; second++) {
    const record = (): NewRecord => ({
      ...{ key: Buffer.from("a"), value: Buffer.from("1"), timestamp: second * SECOND + 1 },
    });
    await send([
      ...Array.from({ length: Math.max(1, truth(second)) }, record),
      heartbeat((second + 1) * SECOND),
    ]);
  }
  await work();
  const all = await published("a");
  expect(all.length).toBeGreaterThan(SECONDS - 3);
  const missed = (more: number): number =>
    all.filter(({ from, low, high }) => {
      const count = Math.max(1, truth(from! / SECOND)) + more;
      return count < low! || count > high!;
    }).length;
  // At 95 % each, 25 or more of 120 miss with odds of 10⁻⁸. Events that are lost would be seen.
  expect(missed(0)).toBeLessThan(25);
  expect(missed(4)).toBeGreaterThan(25);
});

test("the first k events of a person and day of the zone count, also after a restart", async () => {
  const midnight = Date.parse("2026-03-01T23:00Z"); // in Berlin
  const { port, options, beat, event, published } = await cluster("people", {
    stream: { ...loud, every: "1s", levels: ["1s"], perPerson: 2, zone: "Europe/Berlin" },
    deadLetters: "people-dead",
  });
  await beat(midnight - 4 * SECOND);
  for (let second = -4; second < 4; second++) {
    const worker = makeWorker(port, options);
    await worker.start();
    const at = midnight + second * SECOND;
    await event("shop", { value: 1, person: "ada" }, at);
    await event("shop", { value: 1, person: `visitor ${second}` }, at);
    if (second === 0) await event("shop", { value: 1 }, at); // whose is it?
    await beat(at + SECOND);
    await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
    await worker.stop();
  }
  expect(await settled(port, options)).toMatchObject(RIGHT);
  expect((await published("shop")).map(({ value }) => Math.round(value))).toEqual([2, 2, 1, 1, 2, 2, 1, 1]);
  const letters = await allUncommitted(port, "people-dead", 0);
  expect(letters.map(({ headers }) => headers[0]![1].toString())).toEqual(["no person"]);
});

test("a day says how many people had more events than counted", async () => {
  const { beat, event, published, work } = await cluster("limited", {
    stream: { ...loud, every: "1h", perPerson: 1 },
  });
  await beat(0);
  for (let person = 0; person < 40; person++)
    for (let i = 0; i < (person % 4 === 0 ? 2 : 1); i++)
      await event("shop", { value: 1, person: `${person}` }, i);
  for (let hour = 1; hour <= 24; hour++) await beat(hour * HOUR);
  await work();
  const all = await published("shop");
  expect(all).toHaveLength(25);
  expect(all.filter(({ limited }) => limited !== undefined)).toEqual([all[24]]);
  expect(all[24]!.limited!.share).toBeCloseTo(0.25, 1);
});

describe("silence of the clock", () => {
  const stream = { ...loud, every: "1m", levels: ["1m", "5m"] } as const;

  test("periods that began in it have no number, nor have longer ones that hold them", async () => {
    const { beat, event, published, periods, work } = await cluster("silence", { stream });
    await beat(0);
    for (let minute = 0; minute < 15; minute++) {
      await event("a", 1, minute * MINUTE);
      if (minute === 2 || minute === 3) continue; // the heartbeats of minutes 3 and 4 are missing
      await beat((minute + 1) * MINUTE);
    }
    await work();
    // Until minute 5 the clock stood at 2: minute 3 was within the skew, the event of minute 4 was dropped.
    const heard = [0, 1, 2, 3].map((minute) => [minute, 1]);
    const later = [5, 6, 7, 8, 9].map((minute) => [minute, 1]);
    const last = [10, 11, 12, 13, 14].map((minute) => [minute, 1]);
    expect(await periods("a", MINUTE)).toEqual([...heard, ...later, [5, 5], ...last, [10, 5]]);
    expect((await published("a")).map(({ value, from, to }) => value - (to! - from!) / MINUTE)).toEqual(
      Array(16).fill(expect.closeTo(0, 3)),
    );
  });

  test("a long one is believed when a second heartbeat confirms it, and restarts change nothing", async () => {
    const { beat, event, periods, work } = await cluster("night", { stream });
    await beat(0);
    await event("a", 1, 1);
    await beat(MINUTE, 10 * HOUR);
    await work();
    expect(await periods("a", MINUTE)).toEqual([[0, 1]]);
    await beat(10 * HOUR + MINUTE);
    await work();
    await event("a", 1, 10 * HOUR + MINUTE);
    for (let minute = 2; minute <= 5; minute++) await beat(10 * HOUR + minute * MINUTE);
    await work();
    const morning = [601, 602, 603, 604].map((minute) => [minute, 1]);
    expect(await periods("a", MINUTE)).toEqual([[0, 1], [1, 1], [2, 1], ...morning]);
  });

  test("one wrong heartbeat closes nothing, and a clock that goes back closes nothing", async () => {
    const { beat, event, periods, work } = await cluster("jump", { stream });
    await beat(MINUTE);
    await event("a", 1, MINUTE);
    await beat(Date.parse("2099-01-01T00:00Z"), 2 * MINUTE, 30 * SECOND, 3 * MINUTE);
    await work();
    expect(await periods("a", MINUTE)).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test("a heartbeat closes a bounded number of periods, and the next ones go on", async () => {
    const { beat, event, work, periods } = await cluster("steps", {
      stream: { ...loud, every: "1s", levels: ["1s", "1m"] },
    });
    await beat(0);
    await event("a", 1, 1);
    const far = 5 * HOUR;
    await beat(far);
    for (let second = 1; second <= 10; second++) await beat(far + second * SECOND);
    await work();
    // Five heartbeats take an hour each; then the clock has caught up, and the periods from there on are heard.
    const all = (await periods("a", SECOND)).filter(([from]) => from! > 60);
    expect(all).toEqual([5, 6, 7, 8, 9].map((second) => [5 * 3600 + second, 1]));
  });
});

describe("days", () => {
  const stream = { ...loud, every: "1h", zone: "Europe/Berlin" } as const;
  /** A heartbeat of a clock with another time-zone database. */
  const told = (time: number, days: readonly [number, number, number]): NewRecord => {
    const record = heartbeat(time, "Europe/Berlin");
    days.forEach((midnight, i) => record.value!.writeDoubleBE(midnight, 8 + 8 * i));
    return record;
  };

  test("are those of the zone: of 23 hours when clocks go forward", async () => {
    const start = Date.parse("2026-03-28T23:00Z");
    const { beat, event, periods, work } = await cluster("forward", { stream });
    await beat(start);
    await event("a", 1, start);
    for (let hour = 1; hour <= 47; hour++) await beat(start + hour * HOUR);
    await work();
    const days = (await periods("a", HOUR)).filter(([, length]) => length! > 1);
    expect(days).toEqual([
      [start / HOUR, 23],
      [start / HOUR + 23, 24],
    ]);
  });

  test("come from the log, not from the worker's time-zone database, and a running day keeps its end", async () => {
    const start = Date.parse("2026-03-01T20:30Z"); // a midnight that no database has
    const { send, event, periods, work } = await cluster("database", { stream });
    const first = [start, start + 22 * HOUR, start + 44 * HOUR] as const;
    const later = [start, start + 24 * HOUR, start + 48 * HOUR] as const; // the database changes during the first day
    await send([told(start, first)]);
    await event("a", 1, start);
    for (let hour = 1; hour <= 23; hour++) await send([told(start + hour * HOUR, hour < 5 ? first : later)]);
    await work();
    for (let hour = 24; hour <= 48; hour++) {
      const midnight = start + Math.floor(hour / 24) * DAY;
      await send([told(start + hour * HOUR, [midnight, midnight + DAY, midnight + 2 * DAY])]);
    }
    await work();
    const days = (await periods("a", HOUR)).filter(([, length]) => length! > 1);
    expect(days).toEqual([
      [start / HOUR, 22],
      [start / HOUR + 22, 2],
      [start / HOUR + 24, 24],
    ]);
  });

  test("a stream that begins within a day has its first number with the next period", async () => {
    const { beat, event, periods, work } = await cluster("daily", { stream: { ...loud, every: "1d" } });
    const start = 100 * DAY + 15 * HOUR;
    await beat(start);
    await event("a", 1, start);
    for (let hour = 1; hour <= 40; hour++) await beat(start + hour * HOUR);
    await work();
    expect(await periods("a", DAY)).toEqual([[101, 1]]);
  });

  test("heartbeats of another zone, and events whose time is none, are dead letters", async () => {
    const { port, beat, event, send, periods, work } = await cluster("letters", {
      stream: { ...loud, every: "1h" },
      deadLetters: "letters-dead",
    });
    await beat(0);
    await event("a", 1, 0);
    await event("a", 1, 9e15);
    await event("a", 1, 8e15); // a time, but far ahead: it is dropped
    await send([heartbeat(HOUR, "Europe/Berlin")]);
    await beat(HOUR);
    await work();
    expect(await periods("a", HOUR)).toEqual([[0, 1]]);
    const letters = await allUncommitted(port, "letters-dead", 0);
    expect(letters.map(({ headers }) => headers[0]![1].toString())).toEqual(["no time", "other zone"]);
  });
});

test("θ is chosen at a midnight of the log, and what is published then has its interval", async () => {
  const { beat, event, published, work } = await cluster("theta", {
    stream: { epsilon: 8, every: "1h", levels: ["1h", "1d"], max: 10_000 },
  });
  await beat(0);
  for (let i = 0; i < 200; i++) await event("a", 20 + (i % 50), i);
  for (let hour = 1; hour <= 24; hour++) await beat(hour * HOUR);
  for (let i = 0; i < 200; i++) await event("a", 30, DAY + i);
  await work();
  expect(await published("a")).toEqual([]);
  for (let hour = 25; hour <= 48; hour++) await beat(hour * HOUR);
  await work();
  const all = await published("a");
  expect(all).toHaveLength(25);
  const [day] = all.slice(-1);
  expect(day!.clipped).toBeDefined();
  // 12 standard errors of Laplace noise: odds of a false alarm below 10⁻⁶. A θ below 30 would cut what is above it.
  const { value, low, high, standardError } = day!;
  expect(12 * standardError!).toBeLessThan(1000);
  expect(Math.abs(value - 6000)).toBeLessThan(12 * standardError!);
  expect([low! < value, high! > value]).toEqual([true, true]);
});

test.each([
  ["perTick", "no guess of the rate"],
  ["finest", "every"],
  ["maxRange", "any number of days"],
  ["origin", "zone"],
  ["smoother", "no number is predicted"],
  ["tuning", "levels"],
])("the former option %s is refused with its successor", async (name, successor) => {
  const port = new MemoryCluster().port();
  const options = testOptions("former", { stream: { ...kinds.counts, [name]: 1 } });
  expect(() => makeWorker(port, options)).toThrow(
    new RegExp(`^${name}: no longer an option; use .*${successor}`),
  );
  const skewed = testOptions("skewed", { stream: { ...kinds.counts, skew: "13h" } });
  expect(() => makeWorker(port, skewed)).toThrow("stream.skew: expected at most 12h");
  await port.close();
});
