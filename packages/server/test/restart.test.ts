/** State that survives a stop and a kill: everything acknowledged, once; everything published, bit for bit. */
import type { EventAnswer } from "brume";
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { expect, test } from "vitest";
import { Service } from "../src/service.js";
import {
  atEnd,
  KEY,
  METRICS,
  pass,
  type Running,
  send,
  START,
  startService,
  temporaryFolder,
  TestClock,
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
  const second = await startService(testConfig(killed(folder)), first.clock);
  await pass(first, 3000);
  await second.service.flush();
  expect(await answers(second)).toEqual(await answers(first));
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
  const second = await startService(testConfig(killed(folder)), first.clock);
  await pass(first, 3000);
  await second.service.flush();
  expect(await answers(second, START + 6000)).toEqual(await answers(first, START + 6000));
});

test("new metrics join at once, new keys and changed settings at midnight; nothing of them is published before", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await send(first.app, [event("one")]);
  await first.stop();
  const requests = METRICS["requests"]!;
  const more = {
    requests: { ...requests, keys: ["c", "a"] },
    extra: { ...requests, epsilon: 0.5 },
    basket: { ...METRICS["basket"]!, epsilon: 0.5 },
  };
  const second = await startService(testConfig(folder, { epsilon: 31, metrics: more }), first.clock);
  const newest = async (query: string) =>
    (await second.app.inject(`/v1/query?metric=${query}`)).json<{ value: number | null; from: number }>();
  await pass(second, 2000);
  expect((await newest("extra&key=a")).value).not.toBeNull();
  expect((await newest("requests&key=a")).value).not.toBeNull();
  expect((await newest("requests&key=c")).value).toBeNull();
  expect((await newest("basket")).value).toBeNull();
  const midnight = Date.UTC(2026, 2, 2);
  for (let left = midnight - second.clock.wall(); left > 0; left -= 1800_000)
    await pass(second, Math.min(left, 1800_000));
  await send(second.app, [event("two", "c")]);
  await pass(second, 1000);
  expect((await newest("requests&key=c")).value).not.toBeNull();
  expect(await newest("requests&key=c")).toMatchObject({ from: midnight });
  expect(await newest("basket")).toMatchObject({ from: midnight });
});

test("another zone is refused: days are bound to the first one", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await first.stop();
  const { clock } = first;
  const moved = Service.open(testConfig(folder, { zone: "Europe/Berlin" }), { key: KEY, clock });
  await expect(moved).rejects.toThrow(/UTC.*Europe\/Berlin/);
});

test("an older copy of the state is refused, and so is an empty one, until the mark is removed", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  const older = killed(folder);
  await send(first.app, [event("one")]);
  await pass(first, 2000);
  await first.stop();
  const { clock } = first;
  const open = () => Service.open(testConfig(folder), { key: KEY, clock });
  rmSync(folder, { recursive: true });
  await expect(open()).rejects.toThrow(/rolled back.*remove that file too/);
  cpSync(older, folder, { recursive: true });
  await expect(open()).rejects.toThrow(/rolled back.*remove that file too/);
  rmSync(`${folder}.mark`);
  await (await open()).stop();
  expect(readFileSync(`${folder}.mark`, "utf8")).toMatch(/^rows \d+\nbudget \d+\n$/);
});

test("a clock more than an hour after the stored time is refused until it is confirmed, and blocks nothing", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await first.stop();
  const ahead = new TestClock();
  ahead.pass(400 * 86_400_000);
  const open = (clock: TestClock, confirmClock = false) =>
    Service.open(testConfig(folder), { key: KEY, clock, confirmClock });
  await expect(open(ahead)).rejects.toThrow(/clock: expected .*start once with --confirm-clock/);
  await (await open(first.clock)).stop(); // the wrong clock has changed nothing
  const later = new TestClock();
  later.pass(7_200_000);
  await (await open(later, true)).stop();
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
  await expect(wrong).rejects.toThrow(/wrong key, or corrupt|cannot be decrypted/);
  const database = new Database(join(folder, "state.sqlite"));
  const name = "service/catalogue";
  const { bytes } = database.prepare("SELECT bytes FROM brume_snapshots WHERE name = ?").get(name) as {
    bytes: Buffer;
  };
  bytes[bytes.length - 20]! ^= 1;
  database.prepare("UPDATE brume_snapshots SET bytes = ? WHERE name = ?").run(bytes, name);
  database.close();
  const damaged = Service.open(testConfig(folder), { key: KEY, clock: first.clock });
  await expect(damaged).rejects.toThrow(
    '"service/catalogue" cannot be decrypted: the key is another one, or it was altered',
  );
});

test.each([
  ["a row of the journal", "service//1"],
  ["a section", "service/metrics/0.1"],
  ["the budget", "budget"],
])("a state without %s is refused: what was published would be published again", async (_, name) => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await send(first.app, [event("one")]);
  await pass(first, 3000);
  await first.stop();
  const database = new Database(join(folder, "state.sqlite"));
  expect(database.prepare("DELETE FROM brume_snapshots WHERE name = ?").run(name).changes).toBe(1);
  database.close();
  const opened = Service.open(testConfig(folder), { key: KEY, clock: first.clock });
  await expect(opened).rejects.toThrow(/rolled back|is missing/);
});

/** Starts on a copy of a killed service's folder and returns its answer, or why it refuses. */
async function startOn(copy: string, clock: TestClock, mark: string): Promise<string> {
  copyFileSync(mark, `${copy}.mark`);
  atEnd(() => rmSync(`${copy}.mark`, { force: true }));
  try {
    const service = await Service.open(testConfig(copy), { key: KEY, clock });
    const { value } = (await service.ask(
      "requests",
      "a",
      { from: START, to: START + 3000 },
      {},
    )) as EventAnswer;
    await service.stop();
    return String(value);
  } catch (error) {
    return (error as Error).message;
  }
}

test("a write-ahead log with a flipped bit, cut short or missing: the same numbers, or none", async () => {
  const folder = temporaryFolder();
  const running = await startService(testConfig(folder));
  for (let i = 0; i < 12; i++) await send(running.app, [event(`p${i}`)]);
  await pass(running, 3000);
  const { value } = (await running.service.ask(
    "requests",
    "a",
    { from: START, to: START + 3000 },
    {},
  )) as EventAnswer;
  const mark = `${folder}.mark`;
  const whole = String(value);
  expect(await startOn(killed(folder), running.clock, mark)).toBe(whole);
  const { length } = readFileSync(join(folder, "state.sqlite-wal"));
  const seen = new Set<string>();
  const damage = async (change: (log: Buffer) => Buffer | undefined): Promise<void> => {
    const copy = killed(folder);
    const log = change(readFileSync(join(copy, "state.sqlite-wal")));
    rmSync(join(copy, "state.sqlite-shm"), { force: true });
    if (log === undefined) rmSync(join(copy, "state.sqlite-wal"));
    else writeFileSync(join(copy, "state.sqlite-wal"), log);
    const said = await startOn(copy, running.clock, mark);
    seen.add(said === whole ? "same" : "refused");
    if (said !== whole) expect(said).toMatch(/rolled back|is missing|corrupt|altered/);
  };
  for (let i = 0; i < 8; i++)
    await damage((log) => {
      log[Math.floor(((i + 0.5) * length) / 8)]! ^= 16;
      return log;
    });
  await damage((log) => log.subarray(0, Math.floor(length / 2)));
  await damage(() => undefined);
  expect(seen.has("refused")).toBe(true);
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
