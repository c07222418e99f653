/** Snapshots in one table of an SQLite database; `putMany` is one transaction. */
import { shown } from "../../core/checks.js";
import { conflict, finalConflicts, type NamedSnapshot, type Store, type StoredSnapshot } from "./store.js";

/** Database for `sqliteStore`: `DatabaseSync` of node:sqlite, or one of better-sqlite3 or libsql. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  get(...values: (string | number | Uint8Array)[]): unknown;
  all(...values: (string | number | Uint8Array)[]): unknown;
  run(...values: (string | number | Uint8Array)[]): { readonly changes: number | bigint };
}

/** Rows of one statement: a call of the database costs more than a row. */
const CHUNKS = [64, 8, 1];

/** A row is new with sequence 1, follows the one that is there, or is that one. */
function putStatement(rows: number): string {
  return `
    INSERT INTO brume_snapshots (sequence, bytes, name)
    SELECT column1, column2, column3 FROM (VALUES ${Array(rows).fill("(?, ?, ?)").join(", ")})
    WHERE column1 = 1 OR EXISTS (SELECT 1 FROM brume_snapshots WHERE name = column3)
    ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, bytes = excluded.bytes
    WHERE brume_snapshots.sequence = excluded.sequence - 1
      OR (brume_snapshots.sequence = excluded.sequence AND brume_snapshots.bytes = excluded.bytes)
    RETURNING name`;
}

/**
 * @param database the path of a file, opened with Node's own SQLite (from Node 22.13 on), or a database you opened
 *   with node:sqlite, better-sqlite3 or libsql
 */
export async function sqliteStore(database: string | SqliteDatabase): Promise<Store> {
  const opened = typeof database === "string" ? await openWithNode(database) : database;
  if (typeof (opened as SqliteDatabase | null)?.exec !== "function")
    throw new TypeError(`sqliteStore: expected a path or an open database, got ${shown(database)}`);
  opened.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS brume_snapshots (name TEXT PRIMARY KEY, sequence INTEGER NOT NULL, bytes BLOB NOT NULL);
  `);
  const select = opened.prepare("SELECT sequence, bytes FROM brume_snapshots WHERE name = ?");
  const get = (name: string): StoredSnapshot | undefined => {
    const row = select.get(name) as StoredSnapshot | null | undefined;
    return row ? { sequence: row.sequence, bytes: row.bytes } : undefined;
  };
  const puts = CHUNKS.map((rows) => ({ rows, statement: opened.prepare(putStatement(rows)) }));
  /** The names of those that follow the newest snapshot of their stream, and are stored now. */
  const put = (snapshots: readonly NamedSnapshot[]): Set<string> => {
    const stored = new Set<string>();
    let at = 0;
    for (const { rows, statement } of puts)
      for (; at + rows <= snapshots.length; at += rows) {
        const values = snapshots
          .slice(at, at + rows)
          .flatMap(({ name, sequence, bytes }) => [sequence, bytes, name]);
        for (const { name } of statement.all(...values) as { name: string }[]) stored.add(name);
      }
    return stored;
  };
  const remove = opened.prepare("DELETE FROM brume_snapshots WHERE name = ? AND sequence = ?");
  const list = opened.prepare("SELECT name FROM brume_snapshots");
  // What the database throws becomes a rejection.
  /* eslint-disable @typescript-eslint/require-await */
  return finalConflicts({
    durable: true,
    async get(name) {
      return get(name);
    },
    async getMany(names) {
      opened.exec("BEGIN");
      try {
        return names.map(get);
      } finally {
        opened.exec("COMMIT");
      }
    },
    async put(name, sequence, bytes) {
      if (!put([{ name, sequence, bytes }]).has(name)) throw conflict(name, sequence);
    },
    async putMany(snapshots) {
      opened.exec("BEGIN IMMEDIATE");
      try {
        const stored = put(snapshots);
        opened.exec("COMMIT");
        return snapshots.map(({ name }) => stored.has(name));
      } catch (error) {
        opened.exec("ROLLBACK");
        throw error;
      }
    },
    async names() {
      return (list.all() as { name: string }[]).map(({ name }) => name);
    },
    async remove(name, sequence) {
      if (Number(remove.run(name, sequence).changes) !== 1) throw conflict(name, sequence);
    },
  });
  /* eslint-enable @typescript-eslint/require-await */
}

async function openWithNode(path: string): Promise<SqliteDatabase> {
  const module = "node:sqlite"; // not a literal: bundlers and older types do not know it
  let sqlite: { DatabaseSync: new (path: string) => SqliteDatabase };
  try {
    sqlite = (await import(module)) as typeof sqlite;
  } catch (cause) {
    throw new Error(
      `sqliteStore: Node ${process.versions.node} has no SQLite of its own (22.13 and later have); pass a database opened with better-sqlite3 or libsql instead of a path`,
      { cause },
    );
  }
  return new sqlite.DatabaseSync(path);
}
