/** Faults around a service: clocks, disks, stores that fail. Messages say what to do. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryStore, type Store } from "brume";
import { sqliteStore } from "brume/node";
import Database from "libsql";
import { expect, test } from "vitest";
import { Service } from "../src/service.js";
import { atEnd, KEY, pass, send, startService, temporaryFolder, TestClock, testConfig } from "./support.js";

const event = { metric: "requests", key: "a", person: "one" };

test("a clock that jumps closes no periods and takes no events, until it is right again", async () => {
  const running = await startService(testConfig(temporaryFolder()));
  const { app, clock, service } = running;
  await pass(running, 1000);
  const closed = async () => (await service.hub.stats()).metrics["requests"]!.closedTo;
  const before = await closed();
  clock.jump(3_600_000);
  const refused = await send(app, [event]);
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "5"]);
  expect(refused.body).toContain("clock: the machine's clock jumped by more than a minute; set it right");
  expect((await app.inject("/readyz")).statusCode).toBe(503);
  await service.flush();
  expect(await closed()).toBe(before);
  clock.jump(-3_600_000);
  expect((await send(app, [event])).statusCode).toBe(202);
});

test("a clock behind the stored time is told, and time never goes backwards", async () => {
  const folder = temporaryFolder();
  const first = await startService(testConfig(folder));
  await pass(first, 600_000);
  await first.stop();
  const second = await startService(testConfig(folder), new TestClock());
  expect(second.service.now).toBe(first.clock.wall());
  expect((await second.app.inject("/readyz")).body).toContain("s behind the newest stored time");
});

/** A store that fails when it is told to: before it writes, or after. */
async function flakyStore(folder: string) {
  const database = new Database(join(folder, "flaky.sqlite"));
  atEnd(() => database.close());
  const store = await sqliteStore(database);
  const failing = { before: false, after: false };
  const fail = () => Object.assign(new Error("private text"), { code: "ENOSPC" });
  const failingAround = async <T>(call: () => Promise<T>): Promise<T> => {
    if (failing.before) throw fail();
    const stored = await call();
    if (failing.after) throw fail();
    return stored;
  };
  const flaky: Store = {
    ...store,
    put: (...snapshot) => failingAround(() => store.put(...snapshot)),
    putMany: (snapshots) => failingAround(() => store.putMany!(snapshots)),
  };
  return { flaky, failing };
}

test.each(["before", "after"] as const)(
  "a store that fails %s it writes: nothing is lost or counted twice",
  async (when) => {
    const folder = temporaryFolder();
    const { flaky, failing } = await flakyStore(folder);
    const clock = new TestClock();
    const told: string[] = [];
    const metrics = { requests: { ...testConfig(folder).metrics["requests"]!, epsilon: 400 } };
    const config = testConfig(folder, { epsilon: 400, metrics });
    const service = await Service.open(config, {
      key: KEY,
      clock,
      store: flaky,
      onTrouble: (text) => told.push(text),
    });
    const one = {
      metric: service.metric("requests")!,
      key: "a",
      value: 1,
      count: 1,
      at: undefined,
      person: "one",
    };
    failing[when] = true;
    const said = await service.submit([one], "k").then(
      () => "stored",
      (error: Error) => error.message,
    );
    if (when === "before") {
      expect(said).toContain("whether the batch is stored is not known");
      expect(told[0]).toMatch(/^store: it does not take anything; .*\(ENOSPC\)$/);
      await expect(service.submit([one])).rejects.toThrow("store: it does not take anything");
    } else expect(said).toBe("stored"); // the store was asked, and has it
    failing[when] = false;
    while (service.trouble !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await service.submit([one], "k");
    await service.submit([one], "k");
    clock.pass(2000);
    await service.flush();
    const answer = await service.hub.between("requests", "a", clock.wall() - 3000, clock.wall());
    expect((answer as { value: number }).value).toBeCloseTo(1, 0);
    expect(told.at(-1)).toBe(when === "before" ? "store: recovered" : undefined);
    await service.stop();
  },
);

test("of two services on one store without a lock, the older one stops", async () => {
  const folder = temporaryFolder();
  const { flaky } = await flakyStore(folder);
  const clock = new TestClock();
  const open = () => Service.open(testConfig(folder), { key: KEY, clock, store: flaky });
  const first = await open();
  const ended = new Promise<Error>((resolve) => first.onEnd(resolve));
  const second = await open();
  await first.flush().catch(() => undefined);
  expect((await ended).message).toContain("another service writes to the same state, so this one stops");
  await expect(first.submit([])).rejects.toThrow("another service writes");
  await second.flush();
  await second.stop();
});

test("a store without putMany is refused", async () => {
  const store: { -readonly [K in keyof Store]?: Store[K] } = memoryStore();
  delete store.putMany;
  const opened = Service.open(testConfig("unused"), { key: KEY, store: store as Store });
  await expect(opened).rejects.toThrow("store: expected one with putMany");
});

const root = process.getuid?.() === 0;

test("a folder that cannot be written is refused with what to do", async () => {
  const folder = join(temporaryFolder(), "state");
  if (root)
    writeFileSync(folder, ""); // root may write anywhere; a file is no folder for root either
  else {
    mkdirSync(folder);
    chmodSync(folder, 0o500);
  }
  await expect(Service.open(testConfig(folder), { key: KEY })).rejects.toThrow(
    /store: cannot write to the folder .*; let this user write there, or free disk space/,
  );
});

test("a full disk: events are refused, nothing acknowledged is lost, and space heals it", async () => {
  const folder = join(temporaryFolder(), "small");
  mkdirSync(folder);
  // A disk of three megabytes; only root may mount one.
  const asRoot = (command: string, ...args: string[]) =>
    root
      ? execFileSync(command, args, { stdio: "ignore" })
      : execFileSync("sudo", ["-n", command, ...args], { stdio: "ignore" });
  asRoot("mount", "-t", "tmpfs", "-o", "size=3m,mode=777", "tmpfs", folder);
  atEnd(() => asRoot("umount", "-l", folder));
  const running = await startService(testConfig(folder));
  const filler = join(folder, "filler");
  for (let size = 1 << 20; size >= 4096; size /= 2)
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // full for pieces of this size
    }
  const many = Array.from({ length: 2400 }, (_, i) => ({ ...event, person: `p${i}` }));
  const sendMany = () => send(running.app, many, { "idempotency-key": "full" });
  expect((await sendMany()).statusCode).toBe(503);
  expect((await running.app.inject("/readyz")).body).toContain("Check the disk");
  rmSync(filler);
  while ((await running.app.inject("/readyz")).statusCode !== 200)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await sendMany()).statusCode).toBe(202);
});
