/**
 * The service with a day of events at 100× speed: starts it, sends requests of three routes with their durations, and
 * prints the address of the dashboard. `npm run example -- service [--speed 100 --port 8787 --hours 24]`
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { exampleStream } from "../../../src/cli/example.js";
import { type Config, makeLogger, makeServer, Service } from "../src/index.js";
import { eventsOfMinute, METRICS } from "./events.js";

const { values: given } = parseArgs({
  options: {
    speed: { type: "string", default: "100" },
    port: { type: "string", default: "8787" },
    hours: { type: "string", default: "24" },
  },
});
const [speed, hours] = [Number(given.speed), Number(given.hours)];

const folder = mkdtempSync(join(tmpdir(), "brume-example-"));
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const config: Config = {
  epsilon: 4,
  zone,
  key: { env: "NOT_USED" },
  store: { sqlite: folder },
  listen: { port: Number(given.port) },
  metrics: METRICS,
  log: "warn",
};

/** The day before now, faster; after it, at its own pace. Time waits for the events: none of them comes late. */
const begin = Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000;
const started = performance.now();
/** The end of the minute whose events are sent, and when the last one was over. */
const sending = { until: 60_000, over: Infinity };
const steady = (): number => {
  const now = performance.now();
  return Math.min(speed * (now - started), sending.until) + Math.max(0, now - sending.over);
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
const clockOf = new Intl.DateTimeFormat("en-GB", {
  ...{ timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
});
/** "14:05" as 845. */
function minuteOfDay(time: number): number {
  const [hour, minute] = clockOf.format(time).split(":").map(Number);
  return 60 * hour! + minute!;
}
let sent = 0;
for (let minute = 0; running && minute < hours * 60; minute++) {
  const start = begin + minute * 60_000;
  const events = eventsOfMinute(rates, start, minuteOfDay(start));
  const response = await fetch(`${address}/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `minute-${minute}` },
    body: JSON.stringify({ events }),
  });
  if (!response.ok) throw new Error(`POST /v1/events: expected 202, got ${response.status}`);
  sent += events.length;
  await service.flush(); // time passes faster than the service's own timer
  if (minute < hours * 60 - 1) sending.until += 60_000;
  const due = ((minute + 1) * 60_000) / speed - (performance.now() - started);
  if (due > 0) await sleep(due);
  if (minute % 60 === 59)
    console.log(`hour ${(minute + 1) / 60}: ${sent.toLocaleString("en")} events sent and stored`);
}
sending.over = performance.now();
if (running) console.log("The day is over. The dashboard stays until you press Ctrl+C.");
while (running) await sleep(200);
await app.close();
await service.stop();
rmSync(folder, { recursive: true, force: true });
