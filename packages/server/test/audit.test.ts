/**
 * Privacy end to end: an attacker reads /metrics of the running service in two worlds. In one of them a person has sent
 * more events than count; in the other the person was never there. The ε that the attack shows stays below the person's.
 *
 * Every key has noise of its own, so that one service with thousands of keys, and a person for each key, is thousands of
 * independent runs. Half of them find an event that tells the worlds apart, the others count it (research/audit/attack.ts).
 */
import { createHash } from "node:crypto";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { attack, type Observations } from "../../../research/audit/attack.js";
import { Intake } from "../../../src/events/intake.js";
import { pass, type Running, SECONDS, startService, temporaryFolder, testConfig } from "./support.js";

const EPSILON = 1;
const PER_PERSON = 2;
/** Events of one person in one second. */
const SENT = 5 * PER_PERSON;
const RUNS = 3000;
/** Odds that the bound of an honest service is above its ε. */
const ALPHA = 1e-6;

afterEach(() => void vi.restoreAllMocks());

/** The noise keys of all streams come from here: the same ones in every run of the test. */
function fixedRandomness(seed: string): void {
  let calls = 0;
  vi.spyOn(globalThis.crypto, "getRandomValues").mockImplementation((array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 32)
      bytes.set(
        createHash("sha256")
          .update(`${seed} ${calls++}`)
          .digest()
          .subarray(0, bytes.length - at),
        at,
      );
    return array;
  });
}

const keys = { prefix: "k-", from: 0, to: RUNS - 1 };
const metrics = {
  visits: { type: "count", epsilon: EPSILON, perPerson: PER_PERSON, keys, ...SECONDS },
} as const;

async function sendAll(url: string, events: readonly object[]): Promise<void> {
  for (let at = 0; at < events.length; at += 2500) {
    const body = JSON.stringify({ events: events.slice(at, at + 2500) });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/v1/events`, { method: "POST", headers, body });
    expect(response.status).toBe(202);
  }
}

/** The newest published number of each key, as anybody may read it. */
async function published(url: string): Promise<Float64Array> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = new Float64Array(RUNS).fill(NaN);
  for (const [, key, value] of text.matchAll(
    /^brume_value\{metric="visits",key="k-(\d+)",bound="estimate"\} (\S+)$/gm,
  ))
    values[Number(key)] = Number(value);
  expect(values.some(Number.isNaN)).toBe(false);
  return values;
}

/** The attacker's view: both seconds' numbers and their sum, one row per key. */
async function observe(world: 0 | 1, seed: string): Promise<Observations> {
  fixedRandomness(`${seed} ${world}`);
  const config = testConfig(temporaryFolder(), { metrics, epsilon: EPSILON, limits: { commitEvery: 0 } });
  const running: Running = await startService(config);
  const url = await running.app.listen({ host: "127.0.0.1", port: 0 });
  const events = Array.from({ length: RUNS }, (_, i) => {
    const [key, metric] = [`k-${i}`, "visits"];
    const own = Array.from({ length: world * SENT }, () => ({ metric, key, person: `one-${i}` }));
    return [{ metric, key, person: `other-${i}` }, ...own];
  });
  await sendAll(url, events.flat());
  await pass(running, 1000);
  const first = await published(url);
  await pass(running, 1000);
  const second = await published(url);
  await running.stop();
  const rows = Float64Array.from({ length: 3 * RUNS }, (_, i) => {
    const [a, b] = [first[Math.floor(i / 3)]!, second[Math.floor(i / 3)]!];
    return [a, b, a + b][i % 3]!;
  });
  return { features: ["first number", "second number", "their sum"], rows };
}

/** The world without the person: nobody is over the limit there, so it is the same with and without the mistake. */
let without: Observations;
beforeAll(async () => void (without = await observe(0, "service")));

const audited = async (seed: string) => attack(without, await observe(1, seed), ALPHA);

test("what the attack shows stays below the ε of a person, and is not nothing", async () => {
  const { lowerBound } = await audited("service");
  expect(lowerBound).toBeLessThan(EPSILON);
  expect(lowerBound).toBeGreaterThan(EPSILON / 3);
});

test("a service that counts every event of a person is caught", async () => {
  vi.spyOn(Intake.prototype, "admit").mockReturnValue({ kind: "counted", granted: 1 });
  const { lowerBound } = await audited("service");
  expect(lowerBound).toBeGreaterThan(EPSILON);
});
