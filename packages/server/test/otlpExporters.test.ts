/** OpenTelemetry as people run it: the exporters of two SDKs, with their defaults, send to a service that listens. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { beforeAll, expect, test } from "vitest";
import { makeLogger, makeServer } from "../src/http/server.js";
import { Service } from "../src/service.js";
import { atEnd, KEY, listen, SECONDS, temporaryFolder, testConfig } from "./support.js";

/** ε so large that a count is off by 1 once in 10⁹ seconds. */
const metrics = {
  requests: {
    type: "count",
    epsilon: 600,
    keys: ["node", "python"],
    ...SECONDS,
    lateness: "1s",
    perPerson: 20,
  },
  basket: { type: "mean", epsilon: 300, max: 100, threshold: 100, ...SECONDS, lateness: "1s", perPerson: 20 },
} as const;

async function start(): Promise<{ readonly url: string }> {
  const config = testConfig(temporaryFolder(), { epsilon: 1000, metrics });
  const service = await Service.open(config, { key: KEY });
  const app = await makeServer(service, makeLogger("silent"));
  atEnd(() => app.close().then(() => service.stop()));
  return { url: await listen({ app }) };
}

/** The sum of a key over the last seconds, once it is published. */
async function counted(url: string, query: string, since: number, expected: number): Promise<number> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${url}/v1/query?${query}&from=${since - 1000}&to=${Date.now() + 1000}`);
    const { value } = (await answer.json()) as { value: number | null };
    if (Math.round(value ?? 0) === expected || tries === 40) return Math.round(value ?? 0);
    await sleep(500);
  }
}

test("the exporter of the Node SDK, protobuf: a delta counter counts once, its histogram is rejected", async () => {
  const { url } = await start();
  const since = Date.now();
  await sleep(1100); // periods that began before the service did have no number
  const exporter = new OTLPMetricExporter({
    url: `${url}/v1/metrics`,
    temporalityPreference: AggregationTemporality.DELTA as never,
  });
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })],
  });
  const meter = provider.getMeter("shop");
  const requests = meter.createCounter("requests");
  requests.add(3, { key: "node", person: "one" });
  requests.add(4, { key: "node", person: "two" });
  meter.createHistogram("basket").record(5, { person: "one" });
  await provider.forceFlush();
  await provider.shutdown();
  expect(await counted(url, "metric=requests&key=node", since, 7)).toBe(7);
});

/** A Python with OpenTelemetry's SDK, kept in the user's cache folder. */
const VERSION = "1.38.0";
const home = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "brume-tests",
  `opentelemetry-python-${VERSION}`,
);
const python = join(home, "bin/python");

beforeAll(async () => {
  const ready = join(home, "ready");
  if (existsSync(ready)) return;
  mkdirSync(home, { recursive: true });
  const packages = ["opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"].map(
    (name) => `${name}==${VERSION}`,
  );
  for (const [command, ...args] of [
    ["python3", "-m", "venv", "--clear", home],
    [join(home, "bin/pip"), "install", "--quiet", ...packages],
  ] as const)
    await promisify(execFile)(command, args).catch((cause: unknown) => {
      throw new Error(`${command}: expected it to succeed; install Python 3.10 or later with venv`, {
        cause,
      });
    });
  writeFileSync(ready, "");
});

const PROGRAM = `
import sys
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader

exporter = OTLPMetricExporter(
    endpoint=sys.argv[1] + "/v1/metrics",
    preferred_temporality={Counter: AggregationTemporality.DELTA},
)
provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(exporter)])
meter = provider.get_meter("shop")
meter.create_counter("requests").add(5, {"key": "python", "person": "one"})
meter.create_gauge("basket").set(42.5, {"person": "one"})
print(provider.force_flush())
provider.shutdown()
`;

test("the exporter of the Python SDK, gzip and protobuf", async () => {
  const { url } = await start();
  const since = Date.now();
  await sleep(1100);
  const env = { ...process.env, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" };
  const { stdout, stderr } = await promisify(execFile)(python, ["-c", PROGRAM, url], { env });
  expect([stdout.trim(), stderr]).toEqual(["True", ""]);
  expect(await counted(url, "metric=requests&key=python", since, 5)).toBe(5);
});
