/** PostgreSQL and Redis, started for real on loopback. */
import pg from "pg";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHub, openStream, privateStream, type Store } from "../../../src/index.js";
import { postgresStore, redisStore } from "../../../src/node.js";
import { finalConflicts } from "../../../src/durable/stores/store.js";
import { MOST_WRITERS } from "../../../src/durable/stores/writers.js";
import { storeTests, type StoreUnderTest } from "../../../src/durable/stores/storeTests.js";
import { eventually, type Service, startPostgres, startRedis } from "../../support/services.js";
import { key, options, values } from "../support.js";

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const stores: Record<string, () => Promise<StoreUnderTest>> = {};
/** How many writers the stream "s" remembers. */
const writersOf: Record<string, () => Promise<number>> = {};
const pools: pg.Pool[] = [];
const kept = (service: Service): Service => (ends.push(() => service.stop()), service);

async function connectRedis(port: number) {
  const client = await eventually(() =>
    createClient({ socket: { host: "127.0.0.1", port, reconnectStrategy: false } })
      .on("error", () => undefined)
      .connect(),
  );
  ends.push(() => client.close());
  return client;
}

beforeAll(async () => {
  const [postgres, redis] = await Promise.all([
    startPostgres().then(kept),
    startRedis({ appendonly: "yes", appendfsync: "always" }).then(kept),
  ]);
  for (let i = 0; i < 2; i++)
    pools.push(
      new pg.Pool({ host: "127.0.0.1", port: postgres.port, user: "brume", database: "postgres", max: 4 }),
    );
  for (const pool of pools) ends.push(() => pool.end());
  await eventually(() => pools[0]!.query("SELECT 1"));
  stores["postgres"] = async () => {
    await pools[0]!.query("DROP TABLE IF EXISTS brume_snapshots");
    return { store: await postgresStore(pools[0]!), again: () => postgresStore(pools[1]!) };
  };
  writersOf["postgres"] = async () => {
    const { rows } = await pools[0]!.query<{ writers: object }>("SELECT writers FROM brume_snapshots");
    return Object.keys(rows[0]!.writers).length;
  };
  const clients = [await connectRedis(redis.port), await connectRedis(redis.port)];
  stores["redis"] = async () => {
    await clients[0]!.sendCommand(["FLUSHALL"]);
    return { store: await redisStore(clients[0]!), again: () => redisStore(clients[1]!) };
  };
  writersOf["redis"] = async () => {
    const writers = await clients[0]!.sendCommand<string>(["HGET", "{brume}:stream:s", "writers"]);
    return Object.keys(JSON.parse(writers) as object).length;
  };
});

describe.each(["postgres", "redis"])("%s", (kind) => {
  test.each(storeTests.map(({ name, run }) => [name, run] as const))("%s", (_, run) => run(stores[kind]!));

  test("a hub resumes what another process stored, bit for bit", async () => {
    const { store, again } = await stores[kind]!();
    const names = Array.from({ length: 30 }, (_, i) => `s${i}`);
    const push = async (on: Store, from: number, to: number) => {
      const hub = openHub({ ...options, store: on, key, commitEvery: 10, live: 10 });
      const out = await Promise.all(names.map((name) => hub.pushMany(name, values.subarray(from, to))));
      await hub.close();
      return out;
    };
    const [first, rest] = [await push(store, 0, 150), await push(await again!(), 150, 400)];
    names.forEach((name, i) =>
      expect([...first[i]!, ...rest[i]!]).toEqual([
        ...privateStream({ ...options, unsafeSeed: `hub/${name}` }).pushMany(values),
      ]),
    );
    expect([...(await store.names!())].sort()).toEqual([...names].sort());
  });

  test("two processes on one stream: who loses is told so, never left in doubt, and every value counts once", async () => {
    const { store, again } = await stores[kind]!();
    const tried = { acknowledged: 0, conflicts: 0 };
    const pushAll = async (on: Store) => {
      const hub = openHub({ ...options, store: on, key });
      for (let i = 0; i < 150; i++)
        await hub.push("s", 1).then(
          () => tried.acknowledged++,
          (error: unknown) => {
            expect(error).toMatchObject({ code: "conflict" }); // others were faster four times
            tried.conflicts++;
          },
        );
      return hub.stats().conflicts;
    };
    const conflicts = await Promise.all([pushAll(store), pushAll(await again!())]);
    expect(Math.max(...conflicts)).toBeGreaterThan(0);
    expect(tried.acknowledged + tried.conflicts).toBe(300);
    const { received } = await openHub({ ...options, store, key }).progress("s");
    expect(received).toBe(tried.acknowledged);
  });

  test("a process that slept while another stored a hundred times goes on by itself", async () => {
    const { store, again } = await stores[kind]!();
    const [sleeper, busy] = [store, await again!()].map((on) => openHub({ ...options, store: on, key }));
    await sleeper!.push("s", 1);
    for (let i = 0; i < 100; i++) await busy!.push("s", 1);
    await sleeper!.push("s", 1);
    expect((await sleeper!.progress("s")).received).toBe(102);
  });

  test("a client sends a put again that others have continued: it counts once, and is not refused", async () => {
    const { store, again } = await stores[kind]!();
    const other = await again!();
    let meanwhile = (): Promise<unknown> => Promise.resolve();
    const put: Store["put"] = async (...snapshot) => {
      await store.put(...snapshot);
      await meanwhile();
      await store.put(...snapshot);
    };
    const hub = openHub({ ...options, store: finalConflicts({ ...store, put }), key });
    await hub.push("s", 1);
    meanwhile = () => openHub({ ...options, store: other, key }).push("s", 1);
    await hub.push("s", 1);
    expect(hub.stats().conflicts).toBe(0);
    expect((await openHub({ ...options, store: other, key }).progress("s")).received).toBe(3);
    await expect(store.put("s", 2, Uint8Array.of(1))).rejects.toMatchObject({ code: "conflict" });
  });

  test("remembers few writers, however many there were", async () => {
    const { again } = await stores[kind]!();
    for (let i = 1; i <= 40; i++) await (await again!()).put("s", i, Uint8Array.of(i));
    expect(await writersOf[kind]!()).toBe(MOST_WRITERS);
  });

  test("a connection that is gone leaves a push in doubt", async () => {
    const { store } = await stores[kind]!();
    const broken: Store = { ...store, put: () => Promise.reject(new Error("connection lost")) };
    const stream = await openStream({ ...options, name: "s", store: broken, key });
    await expect(stream.push(1)).rejects.toMatchObject({ code: "in-doubt", retryable: false });
  });
});

test("a PostgreSQL table of an older version gets what it lacks", async () => {
  const { store, again } = await stores["postgres"]!();
  await store.put("s", 1, Uint8Array.of(1));
  await pools[0]!.query("ALTER TABLE brume_snapshots DROP COLUMN writers");
  const upgraded = await again!();
  await upgraded.put("s", 2, Uint8Array.of(2));
  expect(await upgraded.get("s")).toMatchObject({ sequence: 2 });
});

test("a PostgreSQL that may lose what it acknowledged is refused: for the session, the user, or the whole server", async () => {
  await stores["postgres"]!();
  const { port } = pools[0]!.options;
  const connect = (at: number | undefined, more: object = {}) => {
    const pool = new pg.Pool({
      host: "127.0.0.1",
      port: at,
      user: "brume",
      database: "postgres",
      max: 1,
      ...more,
    });
    pool.on("error", () => undefined); // the server stops
    ends.push(() => pool.end());
    return pool;
  };
  const off = connect(port, { options: "-c synchronous_commit=off" });
  await expect(postgresStore(off)).rejects.toThrow(
    "postgresStore: expected a server with synchronous_commit on, got off",
  );
  await postgresStore(connect(port, { options: "-c synchronous_commit=local" }));
  await pools[0]!.query("CREATE ROLE hasty LOGIN; ALTER ROLE hasty SET synchronous_commit = off");
  await expect(postgresStore(connect(port, { user: "hasty" }))).rejects.toMatchObject({
    code: "unsupported",
  });
  const unflushed = connect(kept(await startPostgres(["fsync=off"])).port);
  await eventually(() => unflushed.query("SELECT 1"));
  await expect(postgresStore(unflushed)).rejects.toThrow("expected a server with fsync on, got off");
});

test("a Redis that may lose what it acknowledged is refused", async () => {
  const { port } = kept(await startRedis({ appendonly: "yes", appendfsync: "everysec" }));
  const client = await connectRedis(port);
  await expect(redisStore(client)).rejects.toThrow(
    "redisStore: expected a server with appendfsync always, got everysec",
  );
  await client.sendCommand(["CONFIG", "SET", "appendfsync", "always"]);
  await redisStore(client);
});
