/**
 * A service that may be killed at any moment. Run as
 *
 *     node program.mjs <state folder> <milliseconds of its clock ahead of ours> [unsynced | forgetful]
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

/** All kills are in one hour, so no number of it is lost to a restart. Short periods have numbers in every life. */
const HOUR = { every: "1h", levels: ["1h"], lateness: "0s" } as const;
const PERIODS = { every: "200ms", levels: ["200ms"], lateness: "0s" } as const;

/** "exact" has so little noise that it counts; "noisy" has so much that other noise, or other events, would show. */
export const config = (folder: string): Config => ({
  epsilon: 800,
  key: { env: "UNUSED" },
  store: { sqlite: folder },
  limits: { commitEvery: 2, perMinute: 0 },
  metrics: {
    exact: { type: "count", epsilon: 600, perPerson: 2, keys: ["a", "b"], ...HOUR },
    noisy: {
      type: "histogram",
      epsilon: 1,
      perPerson: 2,
      min: 1,
      max: 100,
      buckets: 4,
      ...PERIODS,
    },
  },
  log: "silent",
});

/** Milliseconds by which a store that lies is late: four periods. */
export const LATE = 800;

async function lyingStore(folder: string): Promise<Store> {
  const store = await sqliteStore(new Database(join(folder, "state.sqlite")));
  return {
    ...store,
    put(...snapshot) {
      setTimeout(() => void store.put(...snapshot), LATE);
      return Promise.resolve();
    },
    putMany(snapshots) {
      setTimeout(() => void store.putMany!(snapshots), LATE);
      return Promise.resolve(snapshots.map(() => true));
    },
  };
}

async function serve(folder: string, offset: number, mistake: Mistake | undefined): Promise<void> {
  let shift = offset;
  const given = mistake === "unsynced" ? { store: await lyingStore(folder) } : {};
  const service = await Service.open(config(folder), {
    key: new Uint8Array(32).fill(7),
    clock: { wall: () => Date.now() + shift, steady: () => performance.now() + shift },
    ...given,
  });
  if (mistake === "forgetful") {
    const submit = service.submit.bind(service);
    service.submit = (events) => submit(events);
  }
  // An hour passes.
  process.on("SIGUSR2", () => {
    shift += 3_600_000;
    void service.flush();
  });
  const app = await makeServer(service, makeLogger("silent"));
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  console.log(`listening ${new URL(address).port}`);
}

const [, script, folder, offset, mistake] = process.argv;
if (script?.endsWith("program.mjs")) await serve(folder!, Number(offset), mistake as Mistake | undefined);
