/** The past of a new service from a log: what a service that had been there would have published, once, whatever happens. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Store } from "brume";
import { sqliteStore } from "brume/node";
import { build } from "esbuild";
import Database from "libsql";
import { expect, test, vi } from "vitest";
import { importLog, type ImportOptions, type Log } from "../src/import/importLog.js";
import { ImportRecord } from "../src/import/importRecord.js";
import { Service } from "../src/service.js";
import {
  counted,
  DAY,
  FROM,
  importConfig,
  logOf,
  MIDNIGHTS,
  MONDAY,
  PRESENT,
  TO,
  type Visit,
  visits,
} from "./madeLog.js";
import { COUNT } from "./importing.js";
import { atEnd, KEY, pass, startService, temporaryFolder, TestClock } from "./support.js";

const HOUR = 3_600_000;
const VISITS = visits(5000);

function presentClock(): TestClock {
  const clock = new TestClock();
  clock.pass(PRESENT - clock.wall());
  return clock;
}

const importInto = (folder: string, log: Log, more: Partial<ImportOptions> = {}) =>
  importLog(importConfig(folder), log, { key: KEY, clock: presentClock(), from: FROM, to: TO, ...more });

interface Answer {
  readonly value: number | null;
  readonly complete: boolean;
}

/** Everything that the log filled: hours and days of each key, days of the sum, the week. */
async function published(service: Service): Promise<(number | null)[]> {
  const series = async (metric: string, key: string, every: string): Promise<(number | null)[]> => {
    const { answers } = (await service.ask(metric, key, { from: FROM, to: TO, every }, {})) as unknown as {
      answers: Answer[];
    };
    return answers.map(({ value, complete }) => (value === null || !complete ? null : Math.round(value) + 0));
  };
  const found: (number | null)[] = [];
  for (const key of ["a", "b"])
    for (const every of ["1h", "1d"]) found.push(...(await series("visits", key, every)));
  found.push(...(await series("spent", "", "1d")));
  for (const key of ["a", "b"]) found.push(...(await series("users", key, "1w")));
  return found;
}

/** True answers, computed from the log itself. */
function truths(made: readonly Visit[]): (number | null)[] {
  const found: (number | null)[] = [];
  for (const key of ["a", "b"]) {
    const own = counted(made, FROM, TO).filter((visit) => visit.key === key);
    for (let hour = FROM; hour < TO; hour += HOUR)
      found.push(own.filter(({ at }) => at >= hour && at < hour + HOUR).length);
    for (const [day, start] of MIDNIGHTS.slice(0, -1).entries())
      found.push(own.filter(({ at }) => at >= start && at < MIDNIGHTS[day + 1]!).length);
  }
  for (const [day, start] of MIDNIGHTS.slice(0, -1).entries())
    found.push(counted(made, start, MIDNIGHTS[day + 1]!).reduce((sum, { spent }) => sum + spent, 0));
  for (const key of ["a", "b"]) {
    const people = made.filter(({ at, key: own }) => own === key && at < MIDNIGHTS[7]!);
    found.push(new Set(people.map(({ person }) => person)).size, null); // the second week is cut by the log's end
  }
  return found;
}

async function opened(folder: string): Promise<Service> {
  const service = await Service.open(importConfig(folder), { key: KEY, clock: presentClock() });
  atEnd(() => service.stop());
  return service;
}

test("a log fills the past: hours, days of 23 and 24 hours and a week are those of its events, limits of people hold", async () => {
  const folder = temporaryFolder();
  await importInto(folder, logOf(VISITS));
  const service = await opened(folder);
  const found = await published(service);
  expect(found).toEqual(truths(VISITS));
  expect(found.filter((value) => value !== null).length).toBeGreaterThan(480);
  // The limit leaves a part out, so a test without it would fail.
  expect(counted(VISITS, FROM, TO).length).toBeLessThan(0.7 * VISITS.length);
});

test("between the log and the present nothing was measured, and the first numbers are of whole periods", async () => {
  const folder = temporaryFolder();
  await importInto(folder, logOf(VISITS));
  const running = await startService(importConfig(folder), presentClock());
  const now = running.clock.wall();
  const ask = async (query: string) => (await running.app.inject(`/v1/query?${query}`)).json<Answer>();
  expect((await ask(`metric=visits&key=a&from=${TO}&to=${now}`)).value).toBeNull();
  await running.service.submit([
    { metric: running.service.metric("visits")!, key: "a", value: 1, count: 1, at: now, person: "one" },
  ]);
  await pass(running, HOUR); // 11:30: the hour that began at ten was not listened to from its start
  expect((await ask(`metric=visits&key=a&from=${now - 0.5 * HOUR}&to=${now + 0.5 * HOUR}`)).value).toBeNull();
  const then = running.clock.wall();
  for (const person of ["two", "three"])
    await running.service.submit([
      { metric: running.service.metric("visits")!, key: "a", value: 1, count: 1, at: then, person },
    ]);
  for (let hour = 0; hour < 40; hour++) await pass(running, HOUR);
  const eleven = await ask(`metric=visits&key=a&from=${now + 0.5 * HOUR}&to=${now + 1.5 * HOUR}`);
  expect(Math.round(eleven.value!)).toBe(2);
  // The day of the start has no number of its own, the next one does.
  const midnight = TO + 2 * DAY;
  expect((await ask(`metric=spent&from=${midnight}&to=${midnight + DAY}`)).value).toBeNull();
  expect((await ask(`metric=spent&from=${midnight + DAY}&to=${midnight + 2 * DAY}`)).value).toBeCloseTo(0, 0);
});

test.each(["UTC", "Europe/Berlin"])(
  "%s: θ of a mean is chosen at the first midnight of the log, as a service that had run would",
  async (zone) => {
    const folder = temporaryFolder();
    const spent = {
      type: "mean",
      epsilon: 5000,
      every: "1h",
      levels: ["1h"],
      max: 64,
      protect: "event",
    } as const;
    const config = { ...importConfig(folder), zone, metrics: { spent } };
    const from = zone === "UTC" ? FROM + HOUR : FROM;
    await importLog(config, logOf(VISITS), { key: KEY, clock: presentClock(), from, to: from + 3 * DAY });
    const service = await Service.open(config, { key: KEY, clock: presentClock(), confirmClock: true });
    atEnd(() => service.stop());
    const midnight = from + DAY;
    const range = { from: midnight, to: from + 3 * DAY, every: "1h" };
    const { answers } = (await service.ask("spent", "", range, {})) as unknown as {
      answers: (Answer & { readonly low: number; readonly high: number })[];
    };
    expect(answers.length).toBe(48);
    // The hour of the choice has no number, all others do; θ is near the largest value.
    expect(answers.map(({ value }) => value !== null)).toEqual([false, ...Array<boolean>(47).fill(true)]);
    for (const { low, high, value } of answers.slice(1)) {
      expect(high - low).toBeLessThan(0.5);
      expect(value).toBeGreaterThan(0.5);
      expect(value).toBeLessThan(3.5);
    }
  },
);

test("the order of the file does not matter, and no more memory is taken than is allowed", async () => {
  const shuffled = VISITS.map((visit) => ({
    visit,
    place: createHash("md5").update(JSON.stringify(visit)).digest("hex"),
  }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ visit }) => visit);
  for (const made of [shuffled, [...VISITS].sort((a, b) => a.at - b.at)]) {
    let passes = 0;
    const log = logOf(made);
    const counting: Log = { ...log, events: (metrics) => (passes++, log.events(metrics)) };
    const folder = temporaryFolder();
    await importInto(folder, counting, { memory: 2 ** 20 });
    expect(await published(await opened(folder))).toEqual(truths(VISITS));
    expect(passes).toBe(made === shuffled ? 4 : 2);
  }
});

test("each day is charged before its first number: one that cannot be charged has none, and the import goes on later", async () => {
  const folder = temporaryFolder();
  const database = new Database(join(folder, "state.sqlite"));
  atEnd(() => database.close());
  const inner = await sqliteStore(database);
  const FREE = 12; // three charges for each of four days
  let charges = 0;
  const store: Store = {
    ...inner,
    put: (name, ...snapshot) =>
      name.includes("budget") && ++charges > FREE
        ? Promise.reject(Object.assign(new Error("private text"), { code: "ENOSPC" }))
        : inner.put(name, ...snapshot),
  };
  const ends: number[] = [];
  const publish = vi.spyOn(Service.prototype, "publish").mockImplementation((closed) => {
    for (const { to } of closed) ends.push(to);
  });
  const failure = await importInto(folder, logOf(VISITS), { store }).catch(
    (error: unknown) => error as Error,
  );
  expect((failure as Error).message).toMatch(/^budget: the day cannot be charged.*the import goes on$/);
  expect(charges).toBeGreaterThan(FREE);
  publish.mockRestore();
  expect(Math.max(...ends)).toBeGreaterThan(MIDNIGHTS[3]!);
  expect(Math.max(...ends)).toBeLessThanOrEqual(MIDNIGHTS[4]!);
  await importInto(folder, logOf(VISITS), { store: inner });
  const service = await Service.open(importConfig(folder), { key: KEY, clock: presentClock(), store: inner });
  atEnd(() => service.stop());
  expect(await published(service)).toEqual(truths(VISITS));
});

test("the same log is not taken twice, another one not into what is closed, and none into a service that has begun", async () => {
  const folder = temporaryFolder();
  await importInto(folder, logOf(VISITS));
  await expect(importInto(folder, logOf(VISITS))).rejects.toThrow("this log is in the state already");
  await expect(importInto(folder, logOf(VISITS.slice(1)))).rejects.toThrow("expected a new service");
  expect(await published(await opened(folder))).toEqual(truths(VISITS));
  const other = temporaryFolder();
  await (await startService(importConfig(other), presentClock())).stop();
  await expect(importInto(other, logOf(VISITS))).rejects.toThrow("expected a new service");
});

/** A log that breaks when so many batches are on their way. */
function breakingLog(batches: number): Log {
  let left = batches;
  return logOf(VISITS, { isUnchanged: () => Promise.resolve(left-- > 0) });
}

test("an import that was broken off goes on where it was, and the service waits for it", async () => {
  const folder = temporaryFolder();
  for (const batches of [0, 3, 5])
    await expect(importInto(folder, breakingLog(batches))).rejects.toThrow(
      "the log changed while it was read",
    );
  await expect(opened(folder)).rejects.toThrow("the import has not ended");
  await expect(importInto(folder, logOf(VISITS.slice(1)))).rejects.toThrow("a part of another log");
  await expect(importInto(folder, logOf(VISITS), { to: TO - HOUR })).rejects.toThrow("a part of another log");
  await importInto(folder, logOf(VISITS));
  expect(await published(await opened(folder))).toEqual(truths(VISITS));
});

test.each([0, 1, 2, 3, 4, 5])(
  "an import that dies %i writes before its end resumes from rows alone, and ends once",
  async (writes) => {
    const folder = temporaryFolder();
    const database = new Database(join(folder, "state.sqlite"));
    atEnd(() => database.close());
    const inner = await sqliteStore(database);
    let left = Infinity;
    const alive = (): Promise<void> =>
      left-- > 0 ? Promise.resolve() : Promise.reject(Object.assign(new Error("dead"), { code: "EIO" }));
    const store: Store = {
      ...inner,
      put: (...snapshot) => alive().then(() => inner.put(...snapshot)),
      putMany: (snapshots) => alive().then(() => inner.putMany!(snapshots)),
    };
    const log = logOf(VISITS);
    let looks = 0;
    const dying: Log = {
      ...log,
      digest: () => {
        if (++looks === 2) left = writes; // everything is taken: only the end is left
        return log.digest();
      },
    };
    await importInto(folder, dying, { store }).catch(() => undefined);
    await importInto(folder, log, { store: inner }).catch((error: unknown) =>
      expect((error as Error).message).toContain("this log is in the state already"),
    );
    const service = await Service.open(importConfig(folder), {
      key: KEY,
      clock: presentClock(),
      store: inner,
    });
    atEnd(() => service.stop());
    expect(await published(service)).toEqual(truths(VISITS));
    const { metrics } = await service.hub.stats();
    // Each metric goes on with the first period that begins after the start.
    expect(metrics["visits"]!.closedTo).toBe(PRESENT + 0.5 * HOUR);
    expect(metrics["spent"]!.closedTo).toBe(TO + 3 * DAY);
  },
);

test("an import that forgets where it was is seen: it counts events twice", async () => {
  const folder = temporaryFolder();
  const { reports } = Object.getOwnPropertyDescriptors(ImportRecord.prototype);
  const forgetful = vi.spyOn(ImportRecord.prototype, "reports").mockImplementation(function (
    this: ImportRecord,
  ) {
    return reports.value!.call(this, 0);
  });
  await expect(importInto(folder, breakingLog(3))).rejects.toThrow("the log changed while it was read");
  forgetful.mockRestore();
  await importInto(folder, logOf(VISITS));
  expect(await published(await opened(folder))).not.toEqual(truths(VISITS));
});

test("a log that changes during the import is noticed at the end, at the latest", async () => {
  let looks = 0;
  const log = logOf(VISITS, {
    digest: () => Promise.resolve(new Uint8Array(32).fill(++looks)),
  });
  await expect(importInto(temporaryFolder(), log)).rejects.toThrow("the log changed while it was read");
  const shrinking = logOf(VISITS);
  let passes = 0;
  const shorter: Log = {
    ...shrinking,
    events: (metrics) => logOf(passes++ === 0 ? VISITS : VISITS.slice(0, 4000)).events(metrics),
  };
  await expect(importInto(temporaryFolder(), shorter)).rejects.toThrow("the log changed while it was read");
});

test("a row that makes no sense is found before anything is taken", async () => {
  const folder = temporaryFolder();
  const log = logOf([...VISITS, { ...VISITS[0]!, person: "x".repeat(5000) }]);
  const failure = await importInto(folder, log).catch((error: unknown) => error as Error);
  expect((failure as Error).message).toContain("at most 4096 characters");
  expect((failure as Error).message).not.toContain("xx");
  await importInto(folder, logOf(VISITS)); // the state is new as before
});

test("times that are no past, and more events in a minute than memory holds, are refused", async () => {
  const folder = temporaryFolder();
  const log = logOf(VISITS);
  await expect(importInto(folder, log, { from: TO, to: FROM })).rejects.toThrow(
    "--to: expected a time after --from",
  );
  await expect(importInto(folder, log, { to: presentClock().wall() + 1 })).rejects.toThrow(
    "expected a time that has passed",
  );
  await expect(importInto(folder, log, { from: FROM - 4000 * DAY })).rejects.toThrow("at most 3660 days");
  const busy = Array.from({ length: 2000 }, (_, i): Visit => ({
    at: MONDAY + 2000 - i,
    key: "a",
    person: "p",
    spent: 1,
  }));
  await expect(importInto(folder, logOf(busy), { memory: 2 ** 20 })).rejects.toThrow("sort it by time");
  await importInto(folder, logOf([...busy].reverse()), { memory: 2 ** 20 });
});

/** In the project, so that the program finds its packages. */
const root = resolve("packages/server/build", `import-${process.pid}`);
const program = join(root, "program.mjs");

/** Names of CommonJS that bundled packages refer to. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; import { dirname as dirnameOf } from "node:path";
import { fileURLToPath as pathOf } from "node:url"; const require = requireFrom(import.meta.url);
const __filename = pathOf(import.meta.url); const __dirname = dirnameOf(__filename);`;

/** Runs an import; kills it after so many batches and a moment that no rule decides. Whether it came to its end. */
async function killedAfter(folder: string, batches: number): Promise<boolean> {
  const child: ChildProcess = spawn(process.execPath, [program, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  atEnd(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let seen = "";
  child.stdout!.on("data", (piece: Buffer) => {
    seen += piece.toString();
    const enough = seen.split("batch").length > batches;
    if (enough) setTimeout(() => child.kill("SIGKILL"), crypto.getRandomValues(new Uint8Array(1))[0]! / 25);
  });
  await ended;
  return seen.includes("done");
}

test("an import that is killed again and again takes every event once", async () => {
  mkdirSync(root, { recursive: true });
  atEnd(() => rmSync(root, { recursive: true }));
  await build({
    ...{ entryPoints: ["packages/server/test/importing.ts"], outfile: program },
    ...{ bundle: true, platform: "node", format: "esm", logLevel: "error" },
    alias: { brume: resolve("src/index.ts"), "brume/node": resolve("src/node.ts") },
    external: ["libsql", "jiti", "pg"],
    banner: { js: REQUIRE },
  });
  const folder = temporaryFolder();
  let kills = 0;
  while (!(await killedAfter(folder, 3 + (kills % 7)))) kills++;
  expect(kills).toBeGreaterThan(2); // there is a batch for each six hours of ten days
  expect(await published(await opened(folder))).toEqual(truths(visits(COUNT)));
});
