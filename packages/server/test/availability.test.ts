/**
 * An attacker without a token keeps the service busy: with readers that never leave, with the dearest questions that are
 * allowed, with counts that unfold. What must be impossible: that others wait for it, or that memory grows with it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClosedSpan, reporter } from "brume";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { packReport } from "../../../src/reporter.js";
import { Gauges } from "../src/gauges.js";
import { LiveFeed } from "../src/http/liveFeed.js";
import { makeServer } from "../src/http/server.js";
import { Service } from "../src/service.js";
import {
  atEnd,
  KEY,
  listen,
  METRICS,
  pass,
  START,
  startService,
  temporaryFolder,
  TestClock,
  testConfig,
} from "./support.js";

const MINUTE = 60_000;
const MINUTES = { every: "1m", levels: ["1m"], lateness: "0s" } as const;

/** The first event of a live stream. */
async function firstNumber(url: string, published: () => Promise<void>): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) return `status ${response.status}`;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  await published();
  let text = "";
  while (!text.includes("data:")) text += (await reader.read()).value ?? "";
  await reader.cancel();
  return text;
}

test("a thousand HEAD requests for /v1/live leave no reader behind", async () => {
  const running = await startService(testConfig(temporaryFolder()));
  const url = await listen(running);
  for (let i = 0; i < 1010; i += 10) {
    const heads = Array.from({ length: 10 }, () => fetch(`${url}/v1/live`, { method: "HEAD" }));
    for (const { status, headers } of await Promise.all(heads))
      expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
  const text = await firstNumber(`${url}/v1/live?metric=basket`, () => pass(running, 2000));
  expect(text).toContain('"metric":"basket"');
});

test("a thousand readers of /v1/live that hang up at once leave no reader behind", async () => {
  const running = await startService(testConfig(temporaryFolder()));
  const url = await listen(running);
  const { port } = new URL(url);
  for (let i = 0; i < 1010; i++) {
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    if (i % 2 === 0) await once(socket, "data"); // half of them after the answer has begun
    socket.destroy();
  }
  await sleep(100);
  const text = await firstNumber(`${url}/v1/live?metric=basket`, () => pass(running, 2000));
  expect(text).toContain('"metric":"basket"');
});

test("readers of /metrics who come together get the same bytes, each in a turn of its own", async () => {
  const running = await startService(testConfig(temporaryFolder()));
  await pass(running, 2000);
  const gauges = new Gauges(running.service, false);
  const pages = await Promise.all(Array.from({ length: 40 }, () => gauges.text()));
  expect(new Set(pages).size).toBe(1);
  expect(await gauges.text()).not.toBe(pages[0]); // the next one is made again: its counters are those of its time
  const turn = vi.spyOn(running.service.turns, "next");
  await running.app.inject("/metrics");
  expect(turn).toHaveBeenCalledTimes(1);
  turn.mockRestore();
});

test("a thousand readers of /v1/live who follow a key each make no publication of other keys dear", async () => {
  const keys = Array.from({ length: 50_000 }, (_, i) => `k-${i}`);
  /** Milliseconds of processor time that a publication takes for so many readers of another metric, at best. */
  async function timeOf(readers: number): Promise<number> {
    let publish: (span: ClosedSpan) => void = () => undefined;
    const asked: string[] = [];
    const service = {
      listen: (listener: typeof publish) => (publish = listener),
      metric: () => ({ config: { type: "count", keys, hasKeys: true } }),
      ask: (_: string, key: string) => Promise.resolve({ key: asked.push(key) }),
    };
    const feed = new LiveFeed(service as unknown as Service);
    const stream = new Readable({ read: () => undefined });
    for (let i = 0; i < readers; i++) feed.add(new Readable({ read: () => undefined }), "other", `k-${i}`);
    feed.add(stream, "many", "k-7");
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = process.cpuUsage();
      publish({ metric: "many", from: i, to: i + 1 });
      await sleep(1);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
    expect(asked).toEqual(Array(5).fill("k-7"));
    expect(String(stream.read()).match(/data:/g)).toHaveLength(5);
    return Math.min(...times);
  }
  expect(await timeOf(1000)).toBeLessThan(10 * (1 + (await timeOf(1)))); // about as long; 110 times where all groups are looked at
}, 30_000);

/** As many buckets as there may be, every minute: of seconds, a day would not fit into the memory that a histogram may take. */
const wide = (keys: number) => ({
  type: "histogram" as const,
  ...{ epsilon: 1, perPerson: 1, min: 1, max: 1e6, buckets: 4096, ...MINUTES },
  keys: { prefix: "k-", from: 1, to: keys },
});
const shares = (count: number) =>
  Array.from({ length: count }, (_, i) => ((i + 1) / (count + 1)).toFixed(4)).join(",");

test.each([
  [
    "300 steps × 32 quantiles × 4,096 buckets",
    `from=${START}&to=${START + 300 * MINUTE}&every=1m&quantiles=${shares(32)}`,
  ],
  ["steps of half a period", `from=${START}&to=${START + 5 * MINUTE}&every=30s`],
  ["steps of a millisecond", `from=${START}&to=${START + 1500}&every=1ms`],
])("a question about %s is refused before anything is computed", async (_, question) => {
  const running = await startService(testConfig(temporaryFolder(), { metrics: { wide: wide(1) } }));
  const url = await listen(running);
  const response = await fetch(`${url}/v1/query?metric=wide&key=k-1&${question}`);
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/take longer steps/);
});

test("an answer that is computed in pieces is the one that a single question gets", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics: { wide: wide(1) } }));
  for (let i = 0; i < 3; i++) await pass(running, MINUTE);
  const url = await listen(running);
  const range = `metric=wide&key=k-1&from=${START}&to=${START + 3 * MINUTE}`;
  const ask = async (more: string) =>
    (await (await fetch(`${url}/v1/query?${range}&${more}`)).json()) as {
      quantiles: object[];
      shares: object[];
    };
  const all = await ask("quantiles=0.1,0.5,0.7,0.9&shares=10,100,5000");
  const single = await Promise.all(["0.1", "0.5", "0.7", "0.9"].map((p) => ask(`quantiles=${p}`)));
  expect(all).toEqual({
    ...single[0],
    quantiles: single.flatMap(({ quantiles }) => quantiles),
    shares: (await Promise.all(["10", "100", "5000"].map((x) => ask(`shares=${x}`)))).flatMap(
      ({ shares }) => shares,
    ),
  });
});

test("a reader that hangs up in the middle of a dear question is forgotten, and the log says nothing", async () => {
  const lines: string[] = [];
  const config = testConfig(temporaryFolder(), { metrics: { wide: wide(1) } });
  const service = await Service.open(config, { key: KEY, clock: new TestClock() });
  atEnd(() => service.stop());
  const app = await makeServer(
    service,
    pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
  );
  atEnd(() => app.close());
  const url = await listen({ app });
  const path = `/v1/query?metric=wide&key=k-1&from=${START}&to=${START + 3 * MINUTE}&quantiles=${shares(32)}&shares=${shares(32)}`;
  for (let i = 0; i < 70; i++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await sleep(2);
    socket.destroy();
  }
  expect((await fetch(url + path)).status).toBe(200); // none of the 64 places is taken
  expect(lines).toEqual([]);
});

/**
 * A process of its own that sends requests until it is stopped, so that its work is not measured.
 * @param bodies are sent in turn; a read without them
 */
function attacker(
  urls: readonly string[],
  connections: number,
  bodies: readonly string[] = [],
): ChildProcess {
  const program = `
    let text = "";
    process.stdin.on("data", (data) => (text += data)).on("end", () => {
      const { urls, bodies } = JSON.parse(text);
      const headers = { "content-type": "application/json" };
      const options = (n) => bodies.length === 0 ? {} : { method: "POST", body: bodies[n % bodies.length], headers };
      for (let i = 0; i < ${connections}; i++)
        void (async () => {
          for (let n = i; ; n++)
            try {
              const response = await fetch(urls[n % urls.length], options(n));
              for await (const _ of response.body);
            } catch { await new Promise((resolve) => setTimeout(resolve, 50)); }
        })();
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(JSON.stringify({ urls, bodies }));
  atEnd(() => child.kill("SIGKILL"));
  return child;
}

/**
 * Milliseconds of processor time between two turns of the event loop, while `during` runs: the third-longest, since
 * collecting garbage makes an outlier or two. A request that others send waits that long. Time that other programs take
 * from this one does not count.
 */
async function longTurn(during: () => Promise<void>): Promise<number> {
  const turns: number[] = [];
  let watching = true;
  let before = process.cpuUsage();
  const watch = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    turns.push((user + system) / 1000);
    if (watching) setImmediate(watch);
  };
  setImmediate(watch);
  await during();
  watching = false;
  return turns.sort((a, b) => b - a)[2]!;
}

/** Milliseconds of processor time that parsing the longest body of JSON takes: what every other time is compared with. */
function parseTime(): number {
  const text = `[${'{"a":1,"b":[{"key":"x"}]},'.repeat((3 << 17) / 26)}1]`;
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    JSON.parse(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return times.sort((a, b) => a - b)[4]!;
}

/**
 * While the attack goes on, a turn of the event loop takes at most 30 times what parsing one body takes: it took 4 to 13
 * times as long, and 140 where batches share a turn.
 */
async function expectFreeLoop(during: () => Promise<void>): Promise<void> {
  await sleep(1500);
  expect(await longTurn(during)).toBeLessThan(30 * parseTime());
}

test("the dearest reads that are allowed, from 40 connections, hold up /healthz for a few bodies at most", async () => {
  const keys = 3;
  const config = testConfig(temporaryFolder(), {
    epsilon: 31,
    metrics: { ...METRICS, wide: wide(keys) },
    limits: { perMinute: 0 },
  });
  const running = await startService(config);
  for (let i = 0; i < 20; i++) await pass(running, MINUTE);
  const url = await listen(running);
  const question = `${url}/v1/query?metric=wide&from=${START}&to=${START + 20 * MINUTE}`;
  const urls = [
    `${question}&key=k-1&quantiles=${shares(32)}&shares=${shares(32)}`,
    `${question}&key=k-2&every=3m&quantiles=${shares(32)}`,
    `${question}&key=k-3&every=1m&quantiles=${shares(8)}&format=csv`,
    `${url}/metrics`,
    `${url}/v1/metrics`,
    `${url}/v1/statement`,
    `${url}/openapi.json`,
    `${url}/v1/live`,
  ];
  let answered = 0;
  for (const one of urls.slice(0, -1)) {
    const response = await fetch(one);
    expect(response.status).toBe(200); // allowed, and compiled
    await response.text(); // the server waits for readers of an answer before it ends
  }
  attacker(urls, 40);
  await expectFreeLoop(async () => {
    for (const end = Date.now() + 5000; Date.now() < end; answered++) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      if (answered % 20 === 0) await pass(running, MINUTE);
    }
  });
  expect(answered).toBeGreaterThan(20);
});

test("full batches from 20 connections, and percentiles of devices, hold up /healthz for a few bodies at most", async () => {
  const load = { type: "local", epsilon: 1, max: 1000 } as const;
  const limits = { perMinute: 0 };
  const config = testConfig(temporaryFolder(), { epsilon: 31, metrics: { ...METRICS, load }, limits });
  const running = await startService(config);
  const url = await listen(running);
  const device = reporter({ epsilon: 1, max: 1000 });
  const reports = Array.from({ length: 5000 }, (_, i) => packReport(device.report(i % 900)));
  const sent = await fetch(`${url}/v1/reports?metric=load&batch=1`, {
    method: "POST",
    body: Buffer.concat(reports),
  });
  expect(sent.status).toBe(204);
  const question = `${url}/v1/query?metric=load&quantiles=${shares(32)}`;
  const event = (_: unknown, i: number) => ({ metric: "requests", key: "a", person: `person ${i}` });
  const body = JSON.stringify({ events: Array.from({ length: 2500 }, event) });
  expect((await fetch(question)).status).toBe(200);
  attacker([question], 10);
  attacker([`${url}/v1/events`], 20, [body]);
  await expectFreeLoop(async () => {
    const before = await running.service.hub.sequence();
    const commits = async () => (await running.service.hub.sequence()) - before;
    for (const end = Date.now() + 4000; Date.now() < end || (await commits()) < 6;)
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

test("OTLP bodies as large as they may be, within the limits and beyond, from 20 connections, hold up /healthz for a few bodies at most", async () => {
  const running = await startService(testConfig(temporaryFolder(), { limits: { perMinute: 0 } }));
  const url = await listen(running);
  const LONGEST = 3 << 17;
  const whole = (metrics: string) => `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metrics}]}]}]}`;
  /** As many copies as fit. */
  const filled = (part: string, around: (parts: string) => string) =>
    around(`${part},`.repeat((LONGEST - 400) / (part.length + 1) - 1) + part);
  const attributes = `[{"key":"key","value":{"stringValue":"a"}},{"key":"person","value":{"stringValue":"p"}}]`;
  const point = `{"asInt":1,"attributes":${attributes}}`;
  const sum = (points: string) =>
    `{"name":"requests","sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[${points}]}}`;
  const bodies = [
    whole(sum(`${point},`.repeat(2400) + point)), // all of it counts
    whole(`${sum(point)},`.repeat(1600) + sum(point)),
    filled("{}", (points) => whole(`{"name":"requests","histogram":{"dataPoints":[${points}]}}`)),
    filled("{}", (points) => whole(sum(points))),
    filled("{}", whole),
    filled("{}", (all) => `{"resourceMetrics":[${all}]}`),
    filled('{"key":"x"}', (all) => whole(sum(`{"asInt":1,"attributes":[${all}]}`))),
    `{"resourceMetrics":[],"deep":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  ];
  const post = async (body: string) => {
    const headers = { "content-type": "application/json" };
    return (await fetch(`${url}/v1/metrics`, { method: "POST", body, headers })).status;
  };
  const answers: number[] = [];
  for (const body of bodies) answers.push(await post(body));
  expect(answers).toEqual([200, 200, 400, 400, 400, 400, 200, 200]);
  attacker([`${url}/v1/metrics`], 20, bodies);
  await expectFreeLoop(async () => {
    for (const end = Date.now() + 4000; Date.now() < end;)
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
