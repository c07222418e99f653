/** Other ways in and out: StatsD, a function from Request to Response, an app of one's own, server-sent events. */
import { createSocket } from "node:dgram";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { makeHandler } from "../src/handler.js";
import { brumePlugin } from "../src/http/app.js";
import { parseLine, StatsdServer } from "../src/statsdServer.js";
import { atEnd, METRICS, pass, startService, temporaryFolder, testConfig } from "./support.js";

const loud = Object.fromEntries(
  Object.entries(METRICS).map(([name, metric]) => [name, { ...metric, epsilon: 400 }]),
);
const start = () => startService(testConfig(temporaryFolder(), { epsilon: 1300, metrics: loud }));
const countOf = (text: string): number => Math.round((JSON.parse(text) as { value: number }).value);

test.each([
  ["requests:1|c|#key:a,person:p", { metric: "requests", key: "a", person: "p" }, 1],
  ["requests:3|c|@1|#key:a,person:p", { metric: "requests", key: "a", person: "p" }, 3],
  ["latency:12.5|ms|#person:p", { metric: "latency", value: 12.5, person: "p" }, 1],
])("%s", (line, event, times) => {
  expect(parseLine(line)).toEqual({ event, times });
});

test.each([
  "",
  "requests",
  "requests:x|c",
  "requests:1|s",
  "requests:0.5|c",
  "requests:1|c|#person:",
  "a b:1|c",
])("%j is dropped", (line) => {
  expect(parseLine(line)).toBeUndefined();
});

test("datagrams arrive", async () => {
  const running = await start();
  const statsd = await StatsdServer.open(running.service, "127.0.0.1", 0);
  atEnd(() => statsd.close());
  const socket = createSocket("udp4");
  atEnd(() => socket.close());
  const { hub } = running.service;
  const before = await hub.sequence();
  socket.send(
    "nonsense\nrequests:1|c|#key:a,person:p\nrequests:1|c|#key:a,person:q",
    statsd.port,
    "127.0.0.1",
  );
  while ((await hub.sequence()) === before) await new Promise((resolve) => setTimeout(resolve, 5));
  await pass(running, 2000);
  expect(countOf((await running.app.inject("/v1/query?metric=requests&key=a&from=-1h")).body)).toBe(2);
});

test("Request in, Response out: events, errors, bodies that are too long, live numbers", async () => {
  const running = await start();
  const handle = await makeHandler(running.service);
  atEnd(() => handle.close());
  const post = (body: string) =>
    handle(
      new Request("http://any/v1/events", {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      }),
    );
  const accepted = await post(JSON.stringify({ events: [{ metric: "requests", key: "a", person: "p" }] }));
  expect([accepted.status, await accepted.json()]).toEqual([202, { accepted: 1 }]);
  expect((await post("{")).status).toBe(400);
  expect((await post(" ".repeat(2 ** 20 + 5))).status).toBe(413);
  const live = await handle(new Request("http://any/v1/live?metric=requests&key=a"));
  expect(live.headers.get("content-type")).toBe("text/event-stream");
  const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
  await pass(running, 2000);
  let text = "";
  while (!text.includes("data:")) text += (await reader.read()).value ?? "";
  expect(JSON.parse(/data: (.*)/.exec(text)![1]!)).toMatchObject({
    metric: "requests",
    key: "a",
    confidence: 0.95,
  });
  await reader.cancel();
});

test("as a plugin under a prefix, beside routes of one's own", async () => {
  const { service } = await start();
  const app = Fastify();
  atEnd(() => app.close());
  app.get("/own", () => "mine");
  await app.register(brumePlugin, { service, prefix: "/private" });
  expect((await app.inject("/own")).body).toBe("mine");
  expect((await app.inject("/private/readyz")).json()).toEqual({ status: "ok" });
  expect((await app.inject("/private/v1/query?metric=nothing")).statusCode).toBe(404);
});
