/** Requests of strangers: wrong tokens, other origins, bombs, slow and broken requests, keys that are not there. */
import { connect, type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { makeLogger, makeServer } from "../src/http/server.js";
import { Service } from "../src/service.js";
import {
  atEnd,
  KEY,
  pass,
  type Running,
  send,
  startService,
  temporaryFolder,
  TestClock,
  testConfig,
} from "./support.js";
import { heapBytes } from "../../../test/support/memory.js";

const WRITE = "write-token-write-token";
const READ = "read-token-read-token-1";
afterEach(() => {
  delete process.env["BRUME_TEST_WRITE"];
  delete process.env["BRUME_TEST_READ"];
});

const guarded = () => {
  process.env["BRUME_TEST_WRITE"] = WRITE;
  process.env["BRUME_TEST_READ"] = READ;
  const tokens = { write: { env: "BRUME_TEST_WRITE" }, read: { env: "BRUME_TEST_READ" } };
  return startService(testConfig(temporaryFolder(), { tokens, cors: ["https://shop.example"] }));
};
const event = { metric: "requests", key: "a", person: "one" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("tokens: each opens its own doors", async () => {
  const { app } = await guarded();
  const post = async (headers: Record<string, string>) => (await send(app, [event], headers)).statusCode;
  expect([
    await post({}),
    await post(bearer(READ)),
    await post(bearer(`${WRITE}x`)),
    await post(bearer(WRITE)),
  ]).toEqual([401, 401, 401, 202]);
  const get = async (url: string, headers = {}) => (await app.inject({ url, headers })).statusCode;
  const reads = ["/v1/metrics", "/v1/statement", "/v1/query?metric=basket", "/v1/live", "/openapi.json"];
  for (const url of [...reads, "/metrics"])
    expect([url, await get(url), await get(url, bearer(WRITE))]).toEqual([url, 401, 401]);
  expect([await get("/v1/metrics", bearer(READ)), await get("/metrics", bearer(READ))]).toEqual([200, 200]);
  expect([await get("/healthz"), await get("/readyz")]).toEqual([200, 200]);
});

test("an open /metrics tells nothing of the process: not how busy it is, and not what it received", async () => {
  const { app } = await startService(testConfig(temporaryFolder()));
  const names = async (headers = {}, of = app) => {
    const { body } = await of.inject({ url: "/metrics", headers });
    // Reads are counted in the open: they are the readers' own.
    return body.split("\n").filter((line) => /^\w/.test(line) && !line.startsWith("brume_reads_total"));
  };
  const before = await names();
  expect(before.length).toBeGreaterThan(2);
  expect(before.filter((line) => /^(process|nodejs)_/.test(line))).toEqual([]);
  for (let i = 0; i < 20; i++) await send(app, [event, { ...event, key: "unlisted" }]);
  expect(await names()).toEqual(before); // the numbers of the period come when it ends
  const closed = await names(bearer(READ), (await guarded()).app);
  expect(closed.some((line) => line.startsWith("process_cpu_"))).toBe(true);
});

test("a service that others reach needs a token to write", async () => {
  const config = testConfig(temporaryFolder(), { listen: { host: "0.0.0.0" } });
  const service = await Service.open(config, { key: KEY, clock: new TestClock() });
  atEnd(() => service.stop());
  await expect(makeServer(service, makeLogger("silent"))).rejects.toThrow(
    "tokens.write: expected a token, since 0.0.0.0",
  );
});

test("other origins get no permission", async () => {
  const { app } = await guarded();
  const allowed = async (origin: string) =>
    (await app.inject({ url: "/healthz", headers: { origin } })).headers["access-control-allow-origin"];
  expect([await allowed("https://shop.example"), await allowed("https://evil.example")]).toEqual([
    "https://shop.example",
    undefined,
  ]);
});

test.each([
  "/../package.json",
  "/..%2f..%2fpackage.json",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/assets/../../cli.js",
  "/v1/../../x",
])("%s leads nowhere", async (url) => {
  const { app } = await startService(testConfig(temporaryFolder()));
  const response = await app.inject(url);
  expect([400, 403, 404]).toContain(response.statusCode);
  expect(response.body).not.toMatch(/root:|"name"|at .*\.[jt]s:/);
});

test("another method on a path that is there is told which ones there are", async () => {
  const { app } = await startService(testConfig(temporaryFolder()));
  for (const [method, url, allow] of [
    ["DELETE", "/v1/events", "POST"],
    ["PUT", "/v1/local/anything", "GET, HEAD"],
  ] as const) {
    const { statusCode, headers } = await app.inject({ method, url });
    expect([statusCode, headers["allow"]]).toEqual([405, allow]);
  }
  expect((await app.inject({ method: "POST", url: "/v1/events" })).statusCode).toBe(400); // no body at all
  expect((await app.inject(`/v1/local/${"x".repeat(200)}`)).statusCode).toBe(404); // too long for a name
});

test("a bomb of zeros, a cut one, and one that is no gzip", async () => {
  const { app } = await startService(testConfig(temporaryFolder()));
  const post = (payload: Buffer) =>
    app.inject({
      method: "POST",
      url: "/v1/events",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      payload,
    });
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  expect(bomb.length).toBeLessThan(1 << 17);
  expect((await post(bomb)).statusCode).toBe(413);
  expect((await post(gzipSync("{}").subarray(0, 12))).statusCode).toBe(400);
  expect((await post(Buffer.from("not gzip at all"))).statusCode).toBe(400);
});

test("too many events, and too many that wait: 400 and 429", async () => {
  const { app } = await startService(testConfig(temporaryFolder(), { limits: { batch: 5, waiting: 4 } }));
  const many = (count: number) => send(app, Array<typeof event>(count).fill(event));
  expect((await many(6)).body).toContain("events: expected at most 5, got 6");
  const busy = await many(5);
  expect([busy.statusCode, busy.headers["retry-after"]]).toEqual([429, "1"]);
  expect((await many(4)).statusCode).toBe(202);
});

/** Sends bytes as they are, and gives what comes back until the server ends or is silent. */
async function raw(port: number, text: string, wait = 400): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (data: Buffer) => (answer += data.toString()));
  const ended = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => undefined);
  socket.write(text);
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, wait))]);
  socket.destroy();
  return answer;
}

test("requests that two servers read differently are refused", async () => {
  const { app } = await startService(testConfig(temporaryFolder()));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const start = "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  for (const headers of [
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    "Content-Length: 4\r\nContent-Length: 5\r\n\r\n0000",
    "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
  ]) {
    const answer = await raw(port, start + headers, 5000);
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(answer).not.toContain('"status":"ok"');
  }
  // A client that sends its request byte by byte holds nothing up for others.
  const slow = raw(port, "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", 1500);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  await slow;
  expect(app.server.headersTimeout).toBeLessThanOrEqual(10_000);
  expect(app.server.requestTimeout).toBeLessThanOrEqual(30_000);
});

test("no value, id, key or question is in a log, whatever goes wrong", async () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const service = await Service.open(testConfig(temporaryFolder()), { key: KEY, clock });
  atEnd(() => service.stop());
  const serializers = makeLogger("debug")[pino.symbols.serializersSym as never] as unknown as Record<
    string,
    never
  >;
  const logger = pino({ level: "trace", serializers }, { write: (line: string) => void lines.push(line) });
  const app = await makeServer(service, logger);
  atEnd(() => app.close());
  const running: Running = { service, app, clock, stop: () => Promise.resolve() };
  await send(app, [{ ...event, person: "secret-person", key: "secret-key" }]);
  await send(app, [{ metric: "basket", value: 987654321, person: "secret-person", wrong: "secret-person" }]);
  await app.inject({
    method: "POST",
    url: "/v1/events",
    payload: '{"events": "secret-person',
    headers: { "content-type": "application/json" },
  });
  await app.inject("/v1/query?metric=secret-key&key=secret-key");
  await app.inject("/secret-key");
  service.metric = () => {
    throw new Error("secret-person 987654321");
  };
  const broken = await send(app, [event]);
  expect(broken.statusCode).toBe(500);
  expect(broken.body).not.toMatch(/secret|at .*\.ts/);
  await pass(running, 2000);
  expect(lines.join("")).toContain("this is a bug in brume");
  expect(lines.join("")).not.toMatch(/secret|987654321/);
});

test("a million keys leave nothing behind, and a list of them would be seen", async () => {
  const { app } = await startService(
    testConfig(temporaryFolder(), { limits: { commitEvery: 0, batch: 100_000, body: 32 << 20 } }),
  );
  const list: string[] = [];
  let before = NaN;
  for (let batch = 0; batch < 10; batch++) {
    const lines = Array.from(
      { length: 100_000 },
      (_, i) => `{"metric":"requests","key":"k${batch}-${i}","person":"p"}`,
    );
    const headers = { "content-type": "application/x-ndjson" };
    const response = await app.inject({
      method: "POST",
      url: "/v1/events",
      headers,
      payload: lines.join("\n"),
    });
    expect(response.statusCode).toBe(202);
    if (batch === 1) before = heapBytes(); // what is made once is made
  }
  const after = heapBytes();
  for (let i = 0; i < 800_000; i++) list.push(`k${i}`);
  const listed = heapBytes() - after; // as many as came since then
  expect(list).toHaveLength(800_000);
  expect(after - before).toBeLessThan(listed / 2);
});

/** Two-sample Kolmogorov–Smirnov distance. */
function distance(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [[...a].sort((p, q) => p - q), [...b].sort((p, q) => p - q)];
  let [i, j, most] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    if (x[i]! <= y[j]!) i++;
    else j++;
    most = Math.max(most, Math.abs(i / x.length - j / y.length));
  }
  return most;
}
const RUNS = 150;
/** Odds of a false alarm below 10⁻⁶: 2·exp(−2·D²·n·m/(n + m)) with n = m = 150. */
const LIMIT = Math.sqrt((Math.log(2e6) * (RUNS + RUNS)) / (2 * RUNS * RUNS));

/** Times of requests with a listed and an unlisted key, in turns, so that load hits both alike. */
async function times(extra: (key: string) => Promise<void> | void): Promise<[number[], number[]]> {
  const { app } = await startService(testConfig(temporaryFolder()));
  const taken: [number[], number[]] = [[], []];
  for (let i = 0; i < 2 * RUNS; i++) {
    const key = i % 2 === 0 ? "a" : "z";
    const start = performance.now();
    await send(app, [{ ...event, key, person: `p${i >> 1}` }]);
    await extra(key);
    taken[i % 2]!.push(performance.now() - start);
  }
  return taken;
}

test("listed and unlisted keys take the same time", async () => {
  expect(distance(...(await times(() => undefined)))).toBeLessThan(LIMIT);
});

test("a service that does more for listed keys would be seen", async () => {
  const [listed, unlisted] = await times((key) =>
    key === "a" ? new Promise((resolve) => setTimeout(resolve, 10)) : undefined,
  );
  expect(distance(listed, unlisted)).toBeGreaterThan(LIMIT);
});
