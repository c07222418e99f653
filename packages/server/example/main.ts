/**
 * The service with a day of events at 100× speed: starts it, sends requests of three routes with their durations, and
 * prints the address of the dashboard. `npm run example:service [-- --speed 100 --port 8787 --hours 24]`
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { exampleStream } from "../../../src/cli/example.js";
import { type Config, makeLogger, makeServer, Service } from "../src/index.js";
import { dayOfEvents } from "./events.js";

const { values: given } = parseArgs({
  options: {
    speed: { type: "string", default: "100" },
    port: { type: "string", default: "8787" },
    hours: { type: "string", default: "24" },
  },
});
const [speed, hours] = [Number(given.speed), Number(given.hours)];

const folder = mkdtempSync(join(tmpdir(), "brume-example-"));
const keys = ["home", "search", "checkout"];
const config: Config = {
  epsilon: 4,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  key: { env: "NOT_USED" },
  store: { sqlite: folder },
  listen: { port: Number(given.port) },
  metrics: {
    requests: {
      ...{ type: "count", epsilon: 1, keys, every: "1m", levels: ["1m", "1h", "1d"], lateness: "1m" },
      perPerson: { events: 6, perHour: 3 },
    },
    latency: {
      ...{ type: "histogram", epsilon: 2, keys, every: "1h", lateness: "1m", perPerson: 4 },
      ...{ unit: "ms", min: 5, max: 5000, buckets: 48 },
    },
    // Known without the data: no basket of this shop is above 100 EUR. Without it, the first day would choose a bound.
    basket: {
      ...{ type: "mean", epsilon: 1, every: "1h", lateness: "1m", perPerson: 1 },
      ...{ max: 100, threshold: 100, unit: "EUR" },
    },
  },
  log: "warn",
};

/** The day before now, faster; after it, at its own pace. */
const begin = Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000;
const started = performance.now();
const length = hours * 3_600_000;
const steady = (): number => {
  const passed = performance.now() - started;
  return speed * passed < length ? speed * passed : length + passed - length / speed;
};
const clock = { wall: () => begin + steady(), steady };

const log = makeLogger(config.log);
const service = await Service.open(config, {
  key: new Uint8Array(randomBytes(32)),
  clock,
  onTrouble: (message) => log.error(message),
});
const app = await makeServer(service, log);
const address = await app.listen({ host: "127.0.0.1", port: Number(given.port) });
console.log(`The dashboard: ${address}/
${hours} hours pass at ${speed}× speed, in ${Math.round((hours * 60) / speed)} minutes. Press Ctrl+C to end.`);

let running = true;
process.once("SIGINT", () => (running = false));
process.once("SIGTERM", () => (running = false));

const rates = exampleStream("service", 86_400);
let sent = 0;
for (let minute = 0; running && minute < hours * 60; minute++) {
  const events = dayOfEvents(rates, minute, begin, keys);
  const response = await fetch(`${address}/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `minute-${minute}` },
    body: JSON.stringify({ events }),
  });
  if (!response.ok) throw new Error(`POST /v1/events: expected 202, got ${response.status}`);
  sent += events.length;
  await service.flush(); // time passes faster than the service's own timer
  const due = ((minute + 1) * 60_000) / speed - (performance.now() - started);
  if (due > 0) await sleep(due);
  if (minute % 60 === 59)
    console.log(`hour ${(minute + 1) / 60}: ${sent.toLocaleString("en")} events sent and stored`);
}
if (running) console.log("The day is over. The dashboard stays until you press Ctrl+C.");
while (running) await sleep(200);
await app.close();
await service.stop();
rmSync(folder, { recursive: true, force: true });
