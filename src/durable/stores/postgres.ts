/** Snapshots in one table of a PostgreSQL database; `putMany` is one statement, and so one transaction. */
import { conflict, type NamedSnapshot, type Store } from "./store.js";

/** What is asked of a database: a `Pool` or a connected `Client` of the package pg has it. */
export interface PostgresClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

const CREATE =
  "CREATE TABLE IF NOT EXISTS brume_snapshots (name text PRIMARY KEY, sequence bigint NOT NULL, bytes bytea NOT NULL)";

/** A row is new with sequence 1, or it follows the one that is there. In one order, so that two calls never wait for each other. */
const PUT = `
  INSERT INTO brume_snapshots (name, sequence, bytes)
  SELECT given.name, given.sequence, given.bytes
  FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS given (name, sequence, bytes)
  WHERE given.sequence = 1 OR EXISTS (SELECT 1 FROM brume_snapshots AS old WHERE old.name = given.name)
  ORDER BY given.name
  ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, bytes = excluded.bytes
  WHERE brume_snapshots.sequence = excluded.sequence - 1
  RETURNING name`;

/**
 * @param client a `Pool` or a connected `Client` of the package pg. The server must flush what it commits (its settings
 *   fsync and synchronous_commit are on by default)
 */
export async function postgresStore(client: PostgresClient): Promise<Store> {
  // Two processes that create the table at the same time: one of them fails, and the table is there.
  await client.query(CREATE).catch(() => client.query(CREATE));
  const put = async (snapshots: readonly NamedSnapshot[]): Promise<Set<string>> => {
    const { rows } = await client.query(PUT, [
      snapshots.map(({ name }) => name),
      snapshots.map(({ sequence }) => sequence),
      snapshots.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    ]);
    return new Set((rows as { name: string }[]).map(({ name }) => name));
  };
  return {
    durable: true,
    async get(name) {
      const { rows } = await client.query("SELECT sequence, bytes FROM brume_snapshots WHERE name = $1", [
        name,
      ]);
      const [row] = rows as { sequence: string; bytes: Buffer }[];
      return row && { sequence: Number(row.sequence), bytes: row.bytes };
    },
    async put(name, sequence, bytes) {
      if (!(await put([{ name, sequence, bytes }])).has(name)) throw conflict(name, sequence);
    },
    async putMany(snapshots) {
      const stored = await put(snapshots);
      return snapshots.map(({ name }) => stored.has(name));
    },
    async names() {
      const { rows } = await client.query("SELECT name FROM brume_snapshots");
      return (rows as { name: string }[]).map(({ name }) => name);
    },
    async remove(name, sequence) {
      const { rowCount } = await client.query(
        "DELETE FROM brume_snapshots WHERE name = $1 AND sequence = $2",
        [name, sequence],
      );
      if (rowCount !== 1) throw conflict(name, sequence);
    },
  };
}
