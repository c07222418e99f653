/** Opens the store that a config names, and makes sure that no other service of this machine has it. */
import type { Store } from "brume";
import { postgresStore, sqliteStore, Refusal } from "brume/node";
import Database from "libsql";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readSecret } from "./config/secrets.js";
import type { Config } from "./config/types.js";

export interface OpenedStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

export function openStore({ store = { sqlite: "./state" } }: Config): Promise<OpenedStore> {
  if ("kafka" in store)
    return Promise.reject(
      new Refusal("store.kafka: expected brume serve, which hands events to the cluster"),
    );
  return "sqlite" in store
    ? openSqlite(store.sqlite)
    : openPostgres(readSecret("store.postgres", store.postgres));
}

async function openSqlite(folder: string): Promise<OpenedStore> {
  const lock = open(folder, "lock.sqlite", (database) => {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"); // held until this process ends
    database.exec("CREATE TABLE IF NOT EXISTS held (by INTEGER)");
  });
  const database = open(folder, "state.sqlite", () => undefined);
  const store = await sqliteStore(database).catch((cause: unknown) => {
    throw unusable(folder, cause);
  });
  return {
    store,
    close: async () => {
      database.close();
      lock.close();
      return Promise.resolve();
    },
  };
}

type Sqlite = InstanceType<typeof Database>;

function open(folder: string, file: string, prepare: (database: Sqlite) => void): Sqlite {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = new Database(join(folder, file));
    prepare(database);
    return database;
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

function unusable(folder: string, cause: unknown): Refusal {
  const code = (cause as { code?: string }).code ?? "";
  if (code === "SQLITE_BUSY")
    return new Refusal(
      `store: another service has the folder ${folder}; stop it first, or give this one another folder`,
      { cause },
    );
  if (/CORRUPT|NOTADB/.test(code))
    return new Refusal(
      `store: the database in ${folder} is corrupt; begin with an empty folder (docs/operate.md, "When the state is damaged")`,
      { cause },
    );
  return new Refusal(
    `store: cannot write to the folder ${folder} (${code || "no code"}); let this user write there, or free disk space`,
    { cause },
  );
}

async function openPostgres(connection: string): Promise<OpenedStore> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Refusal("store.postgres: expected the package pg, got none; run: npm install pg", { cause });
  });
  const pool = new pg.Pool({ connectionString: connection, max: 2, connectionTimeoutMillis: 10_000 });
  pool.on("error", () => undefined); // the next call reports it
  const store = await postgresStore(pool).catch(async (cause: unknown) => {
    await pool.end();
    if ((cause as { code?: string }).code === "unsupported")
      throw new Refusal(`store.postgres: ${(cause as Error).message}`, { cause });
    const code = (cause as { code?: string }).code ?? "no code";
    throw new Refusal(
      `store.postgres: cannot use the database (${code}); check that it runs and that the connection string is right`,
      { cause },
    );
  });
  return { store, close: () => pool.end() };
}
