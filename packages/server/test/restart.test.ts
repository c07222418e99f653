/** What survives a stop and a kill: everything acknowledged, once; everything published, bit for bit. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { expect, test } from "vitest";
import { Service } from "../src/service.js";
import {
  KEY,
  METRICS,
  pass,
  type Running,
  send,
  START,
  startService,
  temporaryFolder,
  testConfig,
} from "./support.js";

const event = (person: string, key = "a") => ({ metric: "requests", key, person });
const answers = async ({ app }: Running, to = START + 3000) =>
  Promise.all(
    [
      "metric=requests&key=a",
      "metric=requests&key=b",
      "metric=basket",
      "metric=latency&quantiles=0.5,0.95",
    ].map(async (query) => (await app.inject(`/v1/query?${query}&from=${START}&to=${to}`)).body),
  );

/** The state as a kill of this moment leaves it. */
function killed(folder: string): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

test("a stop and a start continue: the same answers, and persons keep their counts", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await send(first.app, [
    event("one"),
    event("one"),
    event("two"),
    { metric: "basket", value: 4, person: "one" },
  ]);
  await pass(first, 3000);
  const before = await answers(first);
  await first.stop();
  const second = await startService(testConfig(folder), first.clock);
  expect(await answers(second)).toEqual(before);
});

test("a kill loses nothing that was acknowledged and publishes the same numbers", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await send(first.app, [event("one"), event("two", "b")], { "idempotency-key": "k1" });
  const afterAck = killed(folder);
  await pass(first, 3000);
  const before = await answers(first);
  const second = await startService(testConfig(afterAck), first.clock);
  await second.service.engine.flush();
  expect(await answers(second)).toEqual(before);
  // The retry of a client that did not see the answer changes nothing.
  await send(second.app, [event("one"), event("two", "b")], { "idempotency-key": "k1" });
  await pass(second, 1000);
  await pass(first, 0);
  expect(await answers(second, START + 4000)).toEqual(await answers(first, START + 4000));
});

test("rows and parts of many commits are read again after a kill", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  for (let i = 0; i < 300; i++) {
    await send(first.app, [
      event(`p${i}`, i % 3 === 0 ? "b" : "a"),
      { metric: "latency", value: i, person: `p${i}` },
    ]);
    if (i % 100 === 0) await pass(first, 500);
  }
  expect(first.service.engine.stats.parts).toBeGreaterThan(0);
  const copy = killed(folder);
  await pass(first, 3000);
  const second = await startService(testConfig(copy), first.clock);
  await second.service.engine.flush();
  expect(await answers(second, START + 6000)).toEqual(await answers(first, START + 6000));
});

test("new metrics and keys join, removed ones are left alone, changed ones are refused", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await send(first.app, [event("one")]);
  await first.stop();
  const requests = METRICS["requests"]!;
  const more = { requests: { ...requests, keys: ["c", "a"] }, extra: { ...requests, epsilon: 0.5 } };
  const second = await startService(testConfig(folder, { epsilon: 31, metrics: more }), first.clock);
  await send(second.app, [event("one", "c"), { ...event("one"), metric: "extra" }]);
  await pass(second, 2000);
  expect((await second.app.inject("/v1/query?metric=extra&key=a&from=-1h")).statusCode).toBe(200);
  await second.stop();
  const changed = testConfig(folder, { epsilon: 40, metrics: { requests: { ...requests, epsilon: 5 } } });
  await expect(Service.open(changed, { key: KEY, clock: first.clock })).rejects.toThrow(
    /metrics\.requests: .*set them back, or give the metric a new name/,
  );
});

test("the budget of a day counts metrics that were removed on that day", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await first.stop();
  const renamed = Object.fromEntries(
    Object.entries(METRICS).map(([name, metric]) => [`new-${name}`, metric]),
  );
  const config = testConfig(folder, { metrics: renamed });
  await expect(Service.open(config, { key: KEY, clock: first.clock })).rejects.toThrow(
    /epsilon: the budget of 2026-03-01 does not allow the metric new-requests/,
  );
});

test("a wrong key and a changed byte are told apart from nothing, and nothing starts", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await first.stop();
  const wrong = Service.open(testConfig(folder), { key: new Uint8Array(32), clock: first.clock });
  await expect(wrong).rejects.toThrow(/wrong key, or corrupt|cannot decrypt/);
  const database = new Database(join(folder, "state.sqlite"));
  const name = "stream/requests/a";
  const { bytes } = database.prepare("SELECT bytes FROM brume_snapshots WHERE name = ?").get(name) as {
    bytes: Buffer;
  };
  bytes[bytes.length - 20]! ^= 1;
  database.prepare("UPDATE brume_snapshots SET bytes = ? WHERE name = ?").run(bytes, name);
  database.close();
  const damaged = Service.open(testConfig(folder), { key: KEY, clock: first.clock });
  await expect(damaged).rejects.toThrow(
    'state: cannot decrypt "stream/requests/a": wrong key, or corrupt data',
  );
});

test("a file that is no database is refused with what to do", async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "state.sqlite"),
    "not a database at all, but long enough to be read as one".repeat(100),
  );
  await expect(Service.open(testConfig(folder), { key: KEY })).rejects.toThrow(
    /store: the database in .* is corrupt/,
  );
});

test("a second service on the same folder is refused", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  const second = Service.open(testConfig(folder), { key: KEY, clock: first.clock });
  await expect(second).rejects.toThrow(/store: another service has the folder .*; stop it first/);
  await first.stop();
  await (await startService(testConfig(folder), first.clock)).stop();
});
