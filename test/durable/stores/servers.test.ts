/** PostgreSQL and Redis, started for real on loopback. */
import pg from "pg";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHub, openStream, privateStream, type Store } from "../../../src/index.js";
import { postgresStore, redisStore } from "../../../src/node.js";
import { storeTests, type StoreUnderTest } from "../../../src/durable/stores/storeTests.js";
import { eventually, type Service, startPostgres, startRedis } from "../../support/services.js";
import { key, options, values } from "../support.js";

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const stores: Record<string, () => Promise<StoreUnderTest>> = {};
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
  const pools = [0, 1].map(
    () =>
      new pg.Pool({ host: "127.0.0.1", port: postgres.port, user: "brume", database: "postgres", max: 4 }),
  );
  for (const pool of pools) ends.push(() => pool.end());
  await eventually(() => pools[0]!.query("SELECT 1"));
  stores["postgres"] = async () => {
    await pools[0]!.query("DROP TABLE IF EXISTS brume_snapshots");
    return { store: await postgresStore(pools[0]!), again: () => postgresStore(pools[1]!) };
  };
  const clients = [await connectRedis(redis.port), await connectRedis(redis.port)];
  stores["redis"] = async () => {
    await clients[0]!.sendCommand(["FLUSHALL"]);
    return { store: await redisStore(clients[0]!), again: () => redisStore(clients[1]!) };
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

  test("a connection that is gone is an error that can be retried", async () => {
    const { store } = await stores[kind]!();
    const broken: Store = { ...store, put: () => Promise.reject(new Error("connection lost")) };
    const stream = await openStream({ ...options, name: "s", store: broken, key });
    await expect(stream.push(1)).rejects.toMatchObject({ code: "unavailable", retryable: true });
  });
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
