import { expect, test } from "vitest";

import { heartbeat } from "../src/clock.js";
import { MemoryCluster } from "../src/memory/port.js";
import type { NewRecord } from "../src/port.js";
import { readPublishedFrom } from "../src/readPublished.js";
import type { KeyedStreamOptions } from "../src/streams.js";
import type { Published } from "../src/values.js";
import { makeWorker, type WorkerOptions } from "../src/worker.js";
import { allUncommitted } from "./support/judge.js";
import { makeTopics, RIGHT, settled, testOptions, until } from "./support/workload.js";

const SECOND = 1000;

/** One partition; events and heartbeats are sent one by one. */
async function cluster(name: string, more: Partial<WorkerOptions>) {
  const port = new MemoryCluster().port();
  const options = testOptions(name, { values: "json", format: "json", ...more });
  await makeTopics(port, options, 1);
  const send = (records: NewRecord[]) => port.send([{ topic: options.in, partition: 0, records }]);
  return {
    ...{ port, options },
    beat: (time: number) => send([heartbeat(time)]),
    event: (key: string, value: object | number, timestamp: number) =>
      send([{ key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)), timestamp }]),
    published: async (key: string) => {
      const all: Published[] = [];
      for await (const one of readPublishedFrom(port, { topic: options.out, toEnd: true }))
        if (one.name === key) all.push(one);
      return all;
    },
  };
}

const tree = { tuning: { fanout: 4, skipLevels: 0 }, maxRange: "64s" } as const;
const kinds = {
  sums: { epsilon: 1, every: "1s", max: 100, threshold: 100, ...tree },
  counts: { epsilon: 1, every: "1s", of: "count", ...tree },
  means: { epsilon: 1, every: "1s", of: "mean", max: 100, threshold: 100, ...tree },
  histograms: { epsilon: 1, every: "1s", edges: [10, 20, 40], ...tree },
} satisfies Record<string, KeyedStreamOptions>;

test.each(Object.entries(kinds))(
  "%s: each heartbeat closes the same ticks after restarts, one record per key and tick",
  async (name, stream) => {
    const { port, options, beat, event, published } = await cluster(name, {
      stream: { ...stream, lateness: "500ms" },
    });
    await beat(10 * SECOND);
    for (let second = 10; second < 20; second++) {
      const worker = makeWorker(port, options);
      await worker.start();
      await event("a", 30, second * SECOND + 1);
      await event(second % 2 === 0 ? "a" : "b", { value: 15 }, second * SECOND + 2);
      await event("a", 7, 3 * SECOND); // late: it changes nothing
      await beat((second + 1) * SECOND + 500);
      await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
      await worker.stop();
    }
    const verdict = await settled(port, options);
    expect(verdict).toMatchObject({ ...RIGHT, committed: 10 + 9, streams: 2 }); // b begins with second 11
    const all = await published("a");
    expect(all.map(({ at }) => at)).toEqual(Array.from({ length: 10 }, (_, i) => (10 + i) * SECOND));
    expect(all.map(({ position }) => position)).toEqual([...all.keys()]);
    expect(all.every(({ count }) => (count === undefined) === (name !== "means"))).toBe(true);
    expect(all.every(({ counts }) => counts?.length === (name === "histograms" ? 4 : undefined))).toBe(true);
  },
);

test("at most k events of a person count, also after a restart", async () => {
  const loud = { epsilon: 384, every: "1s", of: "count", ...tree } as const; // noise is 0, but for odds of e⁻⁶⁴
  const { port, options, beat, event, published } = await cluster("people", {
    stream: { ...loud, perPerson: { events: 2, every: "1h" } },
    deadLetters: "people-dead",
  });
  await beat(10 * SECOND);
  for (let second = 10; second < 14; second++) {
    const worker = makeWorker(port, options);
    await worker.start();
    await event("shop", { value: 1, person: "ada" }, second * SECOND);
    await event("shop", { value: 1, person: `visitor ${second}` }, second * SECOND);
    await event("shop", { value: 1 }, second * SECOND); // whose is it?
    await beat((second + 1) * SECOND);
    await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
    await worker.stop();
  }
  expect(await settled(port, options)).toMatchObject(RIGHT);
  expect((await published("shop")).map(({ value }) => Math.round(value))).toEqual([2, 2, 1, 1]);
  const letters = await allUncommitted(port, "people-dead", 0);
  expect(letters.map(({ headers }) => headers[0]![1].toString())).toEqual(Array(4).fill("no person"));
});

test("a clock that jumps closes an hour of ticks per heartbeat, and a clock that goes back closes none", async () => {
  const { port, options, beat, event, published } = await cluster("jump", {
    stream: { ...kinds.counts, every: "1m", maxRange: "64m" },
  });
  const worker = makeWorker(port, options);
  await worker.start();
  await beat(60 * SECOND);
  await event("a", 1, 61 * SECOND);
  await beat(10 * 3600 * SECOND);
  await beat(90 * SECOND);
  await settled(port, options);
  await worker.stop();
  expect((await published("a")).length).toBe(60);
});
