/**
 * A service that measures itself: private p50 and p95 of each route, over any range of time, for people and for
 * Prometheus. A number is measured or it is null: there is none before its period has ended. Kill it at any moment and start it again: what it has published stays as it was, bit for bit.
 *
 *     PORT=3000 STATE=state KEY=latency.key npm start
 *     curl "localhost:3000/latency?route=/search&from=2026-03-01T10:00Z&to=2026-03-01T11:00Z"
 *     curl localhost:3000/metrics
 */
import Fastify from "fastify";
import { Gauge, Registry } from "prom-client";
import { openLatency, type Route, ROUTES } from "./latency.js";

const { PORT = "3000", STATE = "state", KEY = "latency.key", EPSILON = "1", EVERY = "10s" } = process.env;
const hub = openLatency({ folder: STATE, keyFile: KEY, epsilon: Number(EPSILON), every: EVERY });
const app = Fastify();

for (const route of ROUTES) app.get(route, () => ({ hello: route }));

// Every response is an event. It is not awaited: a reader of the response must not learn how busy the store is.
app.addHook("onResponse", async (request, reply) => {
  const route = request.routeOptions.url as Route;
  if (!ROUTES.includes(route)) return;
  const person = String(request.headers["x-user"] ?? request.ip);
  hub.add("latency", route, reply.elapsedTime, { person }).catch((error: { code?: string }) => {
    console.error("not stored:", error.code); // no value and no id is in a log
  });
});

interface Question {
  route: Route;
  from: string;
  to: string;
  confidence?: string;
}

app.get<{ Querystring: Question }>("/latency", async ({ query }, reply) => {
  const { route, from, to, confidence = "0.95" } = query;
  try {
    const asked = { quantiles: [0.5, 0.95], confidence: Number(confidence) };
    const { complete, next, total, quantiles } = await hub.between("latency", route, from, to, asked);
    return { complete, next, total, quantiles };
  } catch (error) {
    return reply.code(400).send({ error: (error as Error).message });
  }
});

app.get("/statement", async () => ({
  text: await hub.explain("latency", "/"),
  ...(await hub.statement("latency", "/")),
}));

// Gauges of the newest hour that is published. They are published numbers, so scraping them costs no privacy.
const registry = new Registry();
const quantile = new Gauge({
  name: "latency_private_ms",
  help: "private percentile of the last hour",
  labelNames: ["route", "quantile"],
  registers: [registry],
});
const requests = new Gauge({
  name: "requests_private",
  help: "private count of the last hour",
  labelNames: ["route"],
  registers: [registry],
});
const closed = new Gauge({
  name: "brume_closed_to_seconds",
  help: "the time up to which numbers are published, in seconds since 1970",
  registers: [registry],
});

app.get("/metrics", async (_, reply) => {
  quantile.reset(); // what is not measured has no sample
  requests.reset();
  for (const route of ROUTES) {
    const { total, quantiles } = await hub.last("latency", route, "1h", { quantiles: [0.5, 0.95] });
    if (total !== null) requests.set({ route }, total.value);
    for (const { p, value } of quantiles)
      if (value !== null) quantile.set({ route, quantile: String(p) }, value);
  }
  closed.set((await hub.stats()).metrics["latency"]!.closedTo / 1000);
  return reply.type(registry.contentType).send(await registry.metrics());
});

hub.start(undefined, (error) => console.error("not stored:", (error as { code?: string }).code));
app.addHook("onClose", () => hub.close());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void app.close());
const address = await app.listen({ host: "127.0.0.1", port: Number(PORT) });
console.log(`listening on ${address}`);
