/** One thousandth of the long run of "counted once" (`npm run fuzz -- --counted`), on more stores, and the faults it must find. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { createClient } from "redis";
import { afterAll, expect, test } from "vitest";
import { splitBrain, withoutFencing } from "../../packages/kafka/test/support/broken.js";
import { Dice } from "../../scripts/fuzz/dice.js";
import { finalConflicts, type Store } from "../../src/durable/stores/store.js";
import { memoryStore } from "../../src/index.js";
import { fileStore, postgresStore, redisStore, sqliteStore } from "../../src/node.js";
import { type PlantedRun, releaseState } from "../support/countedCli.js";
import { kafkaWorkers } from "../support/countedKafka.js";
import { checkHistory, durableMemory, type HistoryOptions, type Path } from "../support/countedOnce.js";
import {
  hubOfEvents,
  hubOfValues,
  hubWithSharedThreshold,
  PATHS,
  STORED,
  streamOfValues,
} from "../support/countedPaths.js";
import { eventually, startPostgres, startRedis } from "../support/services.js";

const SEED = 20261118;
const root = mkdtempSync(join(tmpdir(), "brume-counted-"));
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  rmSync(root, { recursive: true });
  for (const end of ends.reverse()) await end();
});

interface Driven {
  injected: number;
  calls: number;
  inDoubt: number;
}

/** Runs histories; gives their faults, and how much was driven. @param isEnough after i of them; default: never */
async function histories(
  path: Path,
  count: number,
  options: (i: number) => HistoryOptions | Promise<HistoryOptions>,
  isEnough: (driven: Driven, i: number) => boolean = () => false,
) {
  const faults: string[] = [];
  const driven: Driven = { injected: 0, calls: 0, inDoubt: 0 };
  for (let i = 0; i < count && !isEnough(driven, i); i++) {
    const result = await checkHistory(path, new Dice(SEED, i), await options(i));
    faults.push(...result.faults.map((fault) => `history ${i}: ${fault}`));
    for (const name of ["injected", "calls", "inDoubt"] as const) driven[name] += result[name];
  }
  return { faults, driven };
}

test.each(PATHS.map((path) => [path.name, path] as const))(
  `seed ${SEED}, %s: every item counts once while the store fails`,
  async (_, path) => {
    const isLog = path.name === kafkaWorkers().name; // takes a record or not
    // How many calls end in doubt goes with the pace of the machine: a path that reads much makes 8 histories, or more.
    const { faults, driven } = await histories(
      path,
      24,
      () => ({}),
      (found, i) => path.reads !== undefined && i >= 8 && (isLog || found.inDoubt > 3),
    );
    expect(faults).toEqual([]);
    expect(driven.calls).toBeGreaterThan(3);
    expect(driven.injected).toBeGreaterThan(3);
    if (!isLog) expect(driven.inDoubt).toBeGreaterThan(3);
  },
);

const stores: Record<string, (i: number) => Promise<Store>> = {
  file: (i) => Promise.resolve(fileStore(join(root, `file ${i}`))),
  sqlite: (i) => sqliteStore(new Database(join(root, `${i}.db`), { timeout: 5000 })),
};

test.each(Object.keys(stores))("%s: every item counts once while the store fails", async (kind) => {
  for (const path of STORED) {
    const { faults } = await histories(path, 2, async (i) => ({
      rate: 0.1,
      store: await stores[kind]!(100 * STORED.indexOf(path) + i),
    }));
    expect(faults, path.name).toEqual([]);
  }
});

/** Rewrites what a store sends to its server. */
type Rewrite = (text: string) => string;

/** Servers on loopback, each with a way to a store that is empty. */
const servers: Record<string, () => Promise<(rewrite?: Rewrite) => Promise<Store>>> = {
  async postgres() {
    const service = await startPostgres();
    ends.push(() => service.stop());
    const pool = new pg.Pool({
      ...{ host: "127.0.0.1", port: service.port, user: "brume", database: "postgres", max: 4 },
    });
    pool.on("error", () => undefined); // of connections that nobody uses
    ends.push(() => pool.end());
    await eventually(() => pool.query("SELECT 1"));
    return async (rewrite = (text) => text) => {
      await pool.query("DROP TABLE IF EXISTS brume_snapshots");
      return postgresStore({ query: (text, values) => pool.query(rewrite(text), values) });
    };
  },
  async redis() {
    const service = await startRedis({ appendonly: "yes", appendfsync: "always" });
    ends.push(() => service.stop());
    const client = await eventually(() =>
      createClient({ socket: { host: "127.0.0.1", port: service.port, reconnectStrategy: false } })
        .on("error", () => undefined)
        .connect(),
    );
    ends.push(() => client.close());
    return async (rewrite = (text) => text) => {
      await client.sendCommand(["FLUSHALL"]);
      return redisStore({ sendCommand: (command) => client.sendCommand(command.map(rewrite)) });
    };
  },
};

/** Each is started once. */
const started = new Map<string, ReturnType<(typeof servers)[string]>>();
function server(kind: string) {
  const known = started.get(kind) ?? servers[kind]!();
  started.set(kind, known);
  return known;
}

test.each(Object.keys(servers))("%s: every item counts once while the store fails", async (kind) => {
  const emptied = await server(kind);
  const driven = { injected: 0, inDoubt: 0 };
  for (const path of STORED) {
    const found = await histories(path, 4, async () => ({ rate: 0.1, store: await emptied() }));
    expect(found.faults, path.name).toEqual([]);
    driven.injected += found.driven.injected;
    driven.inDoubt += found.driven.inDoubt;
  }
  expect(driven.injected).toBeGreaterThan(20);
  expect(driven.inDoubt).toBeGreaterThan(3);
});

/** The condition of a write, and one that lets a second writer store over what the first one was told is stored. */
const LIES: Record<string, readonly [string, string]> = {
  postgres: [
    "brume_snapshots.sequence = excluded.sequence - 1",
    "brume_snapshots.sequence <= excluded.sequence",
  ],
  redis: ["newest == sequence - 1", "newest <= sequence"],
};

test.each(Object.entries(LIES))(
  "planted in %s: its condition does not hold, and values are lost",
  async (kind, [honest, lie]) => {
    const emptied = await server(kind);
    let told = 0;
    const rewrite: Rewrite = (text) => {
      if (text.includes(honest)) told++;
      return text.replace(honest, lie);
    };
    const { faults } = await histories(streamOfValues, 8, async () => ({
      rate: 0,
      store: await emptied(rewrite),
    }));
    expect(told).toBeGreaterThan(8);
    expect(faults.join("\n")).toMatch(/accepted, counted 0 times|published as/);
  },
);

test("a writer that fell behind stores no older state above a newer one, so the hub can be opened again", async () => {
  const found = await Promise.all([604, 769].map((i) => checkHistory(hubOfEvents, new Dice(7, i))));
  expect(found.flatMap(({ faults }) => faults)).toEqual([]);
});

test("memory: every item counts once, by one writer at a time", async () => {
  const { faults } = await histories({ ...hubOfValues, alone: true }, 5, () => ({
    rate: 0,
    store: memoryStore(),
  }));
  expect(faults).toEqual([]);
});

/** Now and then stores a snapshot and says that another process was faster, as a connection that repeats calls does. */
function conflictsAfterStoring(store: Store): Store {
  let calls = 0;
  return {
    ...store,
    async put(name, sequence, bytes) {
      await store.put(name, sequence, bytes);
      if (++calls % 3 === 0) throw Object.assign(new Error("taken"), { code: "conflict" });
    },
  };
}

test('a store that says "conflict" of what it has stored: values count once, because the stored bytes are compared', async () => {
  for (const path of [streamOfValues, hubOfValues]) {
    const { faults } = await histories(path, 10, () => ({ plant: conflictsAfterStoring }));
    expect(faults).toEqual([]);
  }
});

test("planted: the stored bytes are not compared, and values count twice", async () => {
  const plant = (store: Store): Store => finalConflicts(conflictsAfterStoring(store));
  for (const path of [streamOfValues, hubOfValues]) {
    const { faults } = await histories(path, 10, () => ({ plant, rate: 0 }));
    expect(faults.join("\n")).toMatch(/counted 2 times/);
  }
});

test("planted: a batch across the end of a shared hold-out is made again, and its values count twice", async () => {
  const { faults } = await histories(hubWithSharedThreshold, 40, () => ({ rate: 0.2, repeatsInDoubt: true }));
  expect(faults.join("\n")).toMatch(/accepted and .* in doubt, but .* counted/);
});

test("planted: calls in doubt are made again", async () => {
  const { faults } = await histories(hubOfValues, 20, () => ({ rate: 0.3, repeatsInDoubt: true }));
  expect(faults.join("\n")).toMatch(/counted [23] times/);
});

test("planted: a store that forgets its newest snapshot once", async () => {
  const forgetful = (store: Store): Store => {
    let puts = 0;
    return { ...store, put: (...args) => (++puts === 3 ? Promise.resolve() : store.put(...args)) };
  };
  const { faults } = await histories(streamOfValues, 5, () => ({
    plant: forgetful,
    rate: 0,
    store: durableMemory(),
  }));
  expect(faults.join("\n")).toMatch(/accepted, counted 0 times|published as/);
});

test("planted: a run takes the events of the period that --to cuts, the next run reads them again, and they count twice", async () => {
  // As if each run had stored the rows of the cut period: they are there beside those that a later run reads.
  const stored = new Map<string, Set<number>>();
  const early: PlantedRun = (_, input, cut) => {
    const text = readFileSync(input, "utf8");
    const lines = text.split("\n");
    const before = stored.get(input) ?? new Set<number>();
    const twice = lines.flatMap((line, i) =>
      before.has(i) && Date.parse(line) < cut ? [line, line] : [line],
    );
    writeFileSync(input, twice.join("\n"));
    stored.set(input, new Set([...before, ...lines.keys()].filter((i) => Date.parse(lines[i]!) >= cut)));
    return () => writeFileSync(input, text);
  };
  const { faults } = await histories(releaseState(early), 10, () => ({ rate: 0 }));
  expect(faults.join("\n")).toMatch(/accepted and .* in doubt, but .* counted/);
});

test("planted: the folder of a state is put back from a copy, and periods are published again", async () => {
  const rollback: PlantedRun = (state) => {
    const copy = `${state} copy`;
    if (existsSync(copy)) {
      rmSync(state, { recursive: true });
      cpSync(copy, state, { recursive: true });
    } else if (existsSync(state)) cpSync(state, copy, { recursive: true });
    return () => undefined;
  };
  const { faults } = await histories(releaseState(rollback), 10, () => ({ rate: 0 }));
  expect(faults.join("\n")).toMatch(/accepted and .* in doubt, but .* counted/);
});

test("planted: workers that all have every partition and fence nobody publish positions twice", async () => {
  const path = kafkaWorkers((port) => withoutFencing(splitBrain(port)));
  const { faults } = await histories(path, 6, () => ({ rate: 0 }));
  expect(faults.join("\n")).toMatch(/accepted and .* in doubt, but .* counted/);
});
