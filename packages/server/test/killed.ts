/**
 * A service that may be killed at any moment. Run as
 *
 *     node program.mjs <state folder> [unsynced | forgetful]
 *
 * It prints the port it listens on. The two words are mistakes that the test must see: `unsynced` says that rows are
 * stored before they are, `forgetful` takes no notice of idempotency keys.
 */
import { join } from "node:path";
import type { Store } from "brume";
import { sqliteStore } from "brume/node";
import Database from "libsql";
import { makeLogger, makeServer } from "../src/http/server.js";
import { Service } from "../src/service.js";
import type { Config } from "../src/config/types.js";

export type Mistake = "unsynced" | "forgetful";

const ticks = { every: "200ms", lateness: "0s", finest: "200ms" } as const;

/** "exact" has so little noise that it counts; "noisy" has so much that other noise, or other events, would show. */
export const config = (folder: string): Config => ({
  epsilon: 800,
  key: { env: "UNUSED" },
  store: { sqlite: folder },
  limits: { commitEvery: 2, perMinute: 0 },
  metrics: {
    exact: { type: "count", epsilon: 600, perPerson: 2, keys: ["a", "b"], ...ticks },
    noisy: { type: "histogram", epsilon: 1, perPerson: 2, min: 1, max: 100, buckets: 4, ...ticks },
  },
  log: "silent",
});

/** Milliseconds by which a store that lies is late: four ticks. */
export const LATE = 800;

async function lyingStore(folder: string): Promise<Store> {
  const store = await sqliteStore(new Database(join(folder, "state.sqlite")));
  return {
    ...store,
    putMany(snapshots) {
      setTimeout(() => void store.putMany!(snapshots), LATE);
      return Promise.resolve(snapshots.map(() => true));
    },
  };
}

async function serve(folder: string, mistake: Mistake | undefined): Promise<void> {
  const given = mistake === "unsynced" ? { store: await lyingStore(folder) } : {};
  const service = await Service.open(config(folder), { key: new Uint8Array(32).fill(7), ...given });
  const { engine } = service;
  if (mistake === "forgetful") {
    const submit = engine.submit.bind(engine);
    engine.submit = (events) => submit(events);
  }
  const app = await makeServer(service, makeLogger("silent"));
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  console.log(`listening ${new URL(address).port}`);
}

const [, script, folder, mistake] = process.argv;
if (script?.endsWith("program.mjs")) await serve(folder!, mistake as Mistake | undefined);
