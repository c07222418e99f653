/**
 * Attacks on the service over the network, one test per idea: counts that unfold in memory, a web page that
 * sends events, a key that was used before. Requests are real ones, over loopback.
 */
import { createSocket } from "node:dgram";
import { cpSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reporter, type Store } from "brume";
import { sqliteStore } from "brume/node";
import Database from "libsql";
import { describe, expect, test, vi } from "vitest";
import { packReport } from "../../../src/reporter.js";
import type { Config } from "../src/config/types.js";
import { makeServer, makeLogger } from "../src/http/server.js";
import { Service } from "../src/service.js";
import { StatsdServer } from "../src/statsdServer.js";
import { atEnd, KEY, listen, pass, SECONDS, startService, temporaryFolder, testConfig } from "./support.js";

/** So little noise that a count is exact when it is rounded. */
const exact: Config["metrics"] = {
  visits: { type: "count", epsilon: 300, protect: "event", ...SECONDS },
  people: { type: "count", epsilon: 400, perPerson: 2, ...SECONDS },
};
const start = (more: Partial<Config> = {}) =>
  startService(testConfig(temporaryFolder(), { epsilon: 400, metrics: exact, ...more }));
const countOf = async (url: string, metric: string): Promise<number> => {
  const response = await fetch(`${url}/v1/query?metric=${metric}&from=-1h`);
  return Math.round(((await response.json()) as { value: number }).value);
};
const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

describe("counts that unfold", () => {
  const sums = (points: number, asInt: number) =>
    JSON.stringify({
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                {
                  name: "visits",
                  sum: {
                    ...{ aggregationTemporality: 1, isMonotonic: true },
                    dataPoints: Array.from({ length: points }, () => ({ asInt })),
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  /** Megabytes of the heap that a call takes. */
  async function heapOf(call: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage().heapUsed;
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 1);
    await call();
    clearInterval(timer);
    return (Math.max(most, process.memoryUsage().heapUsed) - before) / 2 ** 20;
  }

  test("three kilobytes of OTLP sums that say two million events are refused, and take no memory", async () => {
    const url = await listen(await start());
    const body = sums(200, 10_000);
    expect(body.length).toBeLessThan(4000);
    const heap = await heapOf(async () => {
      const answer = await post(`${url}/v1/metrics`, body);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining("at most 2500 events"),
      ]);
    });
    expect(heap).toBeLessThan(12); // two million events took 16 MB for the list alone
  });

  /** A field of protobuf that holds bytes. */
  function field(number: number, content: Uint8Array) {
    const length: number[] = [];
    for (let left = content.length; length.length === 0 || left > 0; left >>>= 7)
      length.push((left & 127) | (left > 127 ? 128 : 0));
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
  }
  const EMPTY_FIELDS = 120_000;
  const emptyFields = (number: number) => Buffer.alloc(2 * EMPTY_FIELDS, Buffer.from([(number << 3) | 2, 0]));
  const inJson = (metrics: string) => `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metrics}]}]}]}`;
  const inProtobuf = (metrics: Uint8Array) => field(1, field(2, metrics));
  const named = (kind: number) =>
    field(2, Buffer.concat([field(1, Buffer.from("visits")), field(kind, emptyFields(1))]));

  // Each point that has no sense costs an error object: a body full of them kept everybody waiting for seconds.
  test.each([
    ["gauges, JSON", inJson(`{"name":"x","gauge":{"dataPoints":[${"{},".repeat(130_000)}{}]}}`)],
    ["sums, JSON", inJson(`{"name":"x","sum":{"dataPoints":[${"{},".repeat(130_000)}{}]}}`)],
    ["metrics, JSON", inJson(`${'{"name":""},'.repeat(32_000)}{"name":""}`)],
    ["gauges, protobuf", inProtobuf(named(5))],
    ["sums, protobuf", inProtobuf(named(7))],
    ["metrics, protobuf", inProtobuf(emptyFields(2))],
  ])("a body full of empty %s, is refused before any point is checked", async (_, body) => {
    const running = await start();
    const checked = vi.spyOn(running.service, "metric");
    const answer = await fetch(`${await listen(running)}/v1/metrics`, {
      method: "POST",
      body,
      headers: { "content-type": typeof body === "string" ? "application/json" : "application/x-protobuf" },
    });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("at most 2500 points and metrics"),
    ]);
    expect(checked).not.toHaveBeenCalled();
  });

  test("a datagram full of invalid lines is dropped before any line is read", async () => {
    const running = await start();
    const statsd = await StatsdServer.open(running.service, "127.0.0.1", 0);
    atEnd(() => statsd.close());
    const checked = vi.spyOn(running.service, "metric");
    const socket = createSocket("udp4");
    atEnd(() => socket.close());
    const send = (text: string) =>
      new Promise((resolve) => socket.send(text, statsd.port, "127.0.0.1", resolve));
    await send(Array<string>(10_000).fill("a:1|c").join("\n"));
    await send("last:1|c");
    while (!checked.mock.calls.some(([name]) => name === "last")) await sleep(10);
    expect(checked).toHaveBeenCalledTimes(1);
  });

  test("an OTLP sum within the limit counts as many events as it says, also after a kill", async () => {
    const [folder, copy] = [temporaryFolder(), temporaryFolder()];
    const config = (sqlite: string) => testConfig(sqlite, { epsilon: 400, metrics: exact });
    const first = await startService(config(folder));
    expect((await post(`${await listen(first)}/v1/metrics`, sums(3, 800))).status).toBe(200);
    cpSync(folder, copy, { recursive: true }); // as a kill of this moment leaves it
    const second = await startService(config(copy), first.clock);
    await pass(second, 2000);
    expect(await countOf(await listen(second), "visits")).toBe(2400);
  });

  test("a datagram that says millions of events takes nothing, and one within the limit counts", async () => {
    const running = await start();
    const url = await listen(running);
    const statsd = await StatsdServer.open(running.service, "127.0.0.1", 0);
    atEnd(() => statsd.close());
    const socket = createSocket("udp4");
    atEnd(() => socket.close());
    const send = (text: string) =>
      new Promise((resolve) => socket.send(text, statsd.port, "127.0.0.1", resolve));
    const heap = await heapOf(async () => {
      await send(Array<string>(3000).fill("visits:10000|c").join("\n"));
      await sleep(200);
    });
    expect(heap).toBeLessThan(40); // thirty million events took 240 MB for the list alone
    await send("visits:7|c\npeople:5|c|#person:one\npeople:1|c|#person:two");
    await sleep(200);
    await pass(running, 2000);
    expect([await countOf(url, "visits"), await countOf(url, "people")]).toEqual([7, 3]); // two of five, and one
  });

  test("more lines than a batch may have are refused before they are read", async () => {
    const url = await listen(await start());
    const body = "{\n".repeat(200_000); // not one of them is JSON
    const answer = await post(`${url}/v1/events`, body, { "content-type": "application/x-ndjson" });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("at most 2500, got 200000"),
    ]);
  });

  test("twenty full batches at once are stored in rows of bounded length, and all of them count", async () => {
    const running = await start({ limits: { commitEvery: 5 } });
    const url = await listen(running);
    const body = JSON.stringify({ events: Array.from({ length: 2400 }, () => ({ metric: "visits" })) });
    const before = await running.service.hub.sequence();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(`${url}/v1/events`, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await running.service.hub.sequence()) - before).toBeGreaterThanOrEqual(20); // one batch a row
    await pass(running, 2000);
    expect(await countOf(url, "visits")).toBe(48_000);
  });
});

describe("a page of another site, in the browser of whoever runs the service", () => {
  const line = JSON.stringify({ metric: "visits" });
  /** Browsers send these without asking first. */
  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "text/plain; x=application/x-ndjson",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=application/json",
    "",
  ])("cannot send events as %j", async (type) => {
    const running = await start();
    const url = await listen(running);
    const { status } = await raw(
      url,
      "POST",
      "/v1/events",
      { ...(type === "" ? {} : { "content-type": type }) },
      line,
    );
    expect([400, 415]).toContain(status);
    await pass(running, 2000);
    expect(await countOf(url, "visits")).toBe(0);
  });

  /** As a browser sends it: any Host and Origin. */
  function raw(url: string, method: string, path: string, headers: Record<string, string>, body = "") {
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers }, (answer) => {
        let text = "";
        answer.on("data", (part: Buffer) => (text += part.toString()));
        answer.on("end", () => resolve({ status: answer.statusCode!, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  test("cannot read or write under a name of its own that leads to this machine", async () => {
    const url = await listen(await start({ listen: { names: ["stats.example"] } }));
    const { port } = new URL(url);
    const get = async (host: string) => (await raw(url, "GET", "/v1/metrics", { host })).status;
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      "stats.example",
      "STATS.example",
    ])
      expect([host, await get(host)]).toEqual([host, 200]);
    for (const host of [
      `evil.example:${port}`,
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "evil.example:127.0.0.1",
    ])
      expect([host, await get(host)]).toEqual([host, 421]);
  });

  test("cannot send anything from another origin; a page that cors lists, and the dashboard, can", async () => {
    const url = await listen(await start({ cors: ["https://shop.example"] }));
    const { host } = new URL(url);
    const send = async (origin: string) =>
      (
        await raw(
          url,
          "POST",
          "/v1/events",
          { host, origin, "content-type": "application/json" },
          `{"events":[${line}]}`,
        )
      ).status;
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost:3000",
      "http://127.0.0.1",
      "https://shop.example.evil.example",
    ])
      expect([origin, await send(origin)]).toEqual([origin, 403]);
    for (const origin of ["https://shop.example", `http://${host}`])
      expect([origin, await send(origin)]).toEqual([origin, 202]);
  });
});

test("an event of a time that no calendar has is dropped, and a question about one is refused: nobody else notices", async () => {
  const running = await start();
  const url = await listen(running);
  const send = (at: number) =>
    post(`${url}/v1/events`, JSON.stringify({ events: [{ metric: "people", person: "p", at }] }));
  const now = running.clock.wall();
  for (const at of [1000 * now, 2 ** 47, 8.64e15, -8.64e15]) {
    expect([at, (await send(at)).status]).toEqual([at, 202]);
    expect([at, (await fetch(`${url}/readyz`)).status]).toEqual([at, 200]);
  }
  expect((await send(now)).status).toBe(202);
  await pass(running, 2000);
  expect([await countOf(url, "people"), running.service.failures]).toEqual([1, 0]);
  for (const range of [
    ...["", "1h", "1d", "1w", "1mo", "auto"].map(
      (every) => `from=${1000 * now}&to=${1000 * now + 60_000}${every && `&every=${every}`}`,
    ),
    `from=${2 ** 47 - 1}&to=${2 ** 47 - 1}&every=1mo`,
    "from=-100000000d&to=-99999990d&every=1d",
  ]) {
    const { status } = await fetch(`${url}/v1/query?metric=visits&${range}`);
    expect([range, status]).toEqual([range, 400]);
  }
});

test("an idempotency key that is used again with other events is refused with 422, also after a restart", async () => {
  const folder = temporaryFolder();
  const config = testConfig(folder, { epsilon: 400, metrics: exact });
  const first = await startService(config);
  const body = (person: string) => JSON.stringify({ events: [{ metric: "people", person }] });
  const send = async (url: string, text: string) =>
    (await post(`${url}/v1/events`, text, { "idempotency-key": "k" })).status;
  const url = await listen(first);
  const together = await Promise.all([send(url, body("one")), send(url, body("two"))]);
  expect(together.sort()).toEqual([202, 422]);
  await first.stop();
  const second = await startService(config, first.clock);
  const again = await listen(second);
  const statuses = [
    await send(again, body("one")),
    await send(again, body("two")),
    await send(again, body("three")),
  ];
  expect(statuses.sort()).toEqual([202, 422, 422]);
  await pass(second, 2000);
  expect(await countOf(again, "people")).toBe(1);
});

describe("devices", () => {
  const metrics: Config["metrics"] = {
    load: { type: "local", epsilon: 4, max: 1000, unit: "ms" },
  };

  test("the addresses that the guide tells devices are right", async () => {
    const url = await listen(await startService(testConfig(temporaryFolder(), { metrics })));
    const guide = readFileSync("docs/devices.md", "utf8");
    const [, terms] = /terms: "([^"]+)"/.exec(guide)!;
    const [, reports] = /url: "([^"]+)"/.exec(guide)!;
    expect((await fetch(url + terms!)).status).toBe(200);
    const address = new URL(url + reports!);
    address.searchParams.set("batch", "b1"); // as the device does
    const body = packReport(reporter({ epsilon: 4, max: 1000 }).report(200));
    expect((await fetch(address, { method: "POST", body: Buffer.from(body) })).status).toBe(204);
  });

  test("numbers of a local metric come as CSV when CSV is asked for", async () => {
    const url = await listen(await startService(testConfig(temporaryFolder(), { metrics })));
    const answer = await fetch(`${url}/v1/query?metric=load&format=csv`);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [head, row, end] = (await answer.text()).split("\n");
    expect([head, end]).toEqual([
      "from,to,complete,next,reports,sum,low,high,standardError,confidence,clipped,value",
      "",
    ]);
    expect(row).toMatch(/^\d+,\d+,false,\d+,0,,,,,0.95,,$/);
  });
});

test("a service in an app of one's own says that it is dead once its state was taken over", async () => {
  const folder = temporaryFolder();
  const database = new Database(join(folder, "state.sqlite"));
  atEnd(() => database.close());
  const store = await sqliteStore(database);
  const open = () => Service.open(testConfig(folder), { key: KEY, store });
  const first = await open();
  const app = await makeServer(first, makeLogger("silent"));
  atEnd(() => app.close());
  const url = await listen({ app });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const second = await open();
  atEnd(() => second.stop());
  await first.flush().catch(() => undefined);
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
});

test("a process that nobody sends anything, with a number a day, ends soon after another one took its state over", async () => {
  const folder = temporaryFolder();
  const store = memoryOf(new Map());
  const daily = { type: "count", epsilon: 1, perPerson: 1, every: "1d" } as const;
  const open = () => Service.open(testConfig(folder, { metrics: { daily } }), { key: KEY, store });
  const first = await open();
  const ended = new Promise<Error>((resolve) => first.onEnd(resolve));
  await new Promise((resolve) => setTimeout(resolve, 1500)); // a beat
  expect(first.failure).toBeUndefined();
  const second = await open();
  atEnd(() => second.stop());
  expect((await ended).message).toContain("another service writes to the same state, so this one stops");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(second.trouble).toBeUndefined();
  await first.stop();
});

/** A durable store in memory. */
function memoryOf(snapshots: Map<string, { readonly sequence: number; readonly bytes: Uint8Array }>): Store {
  const put: Store["put"] = (name, sequence, bytes) => {
    if (sequence !== (snapshots.get(name)?.sequence ?? 0) + 1)
      return Promise.reject(Object.assign(new Error("taken"), { code: "conflict" }));
    snapshots.set(name, { sequence, bytes: bytes.slice() });
    return Promise.resolve();
  };
  return {
    durable: true,
    get: (name) => Promise.resolve(snapshots.get(name)),
    put,
    putMany: (all) =>
      Promise.all(
        all.map(({ name, sequence, bytes }) =>
          put(name, sequence, bytes).then(
            () => true,
            () => false,
          ),
        ),
      ),
  };
}
