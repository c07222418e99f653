/** Snapshots in one table of a PostgreSQL database; `putMany` is one statement, and so one transaction. */
import {
  conflict,
  finalConflicts,
  type NamedSnapshot,
  type Store,
  StoreError,
  type StoredSnapshot,
} from "./store.js";
import { digestOf, MOST_WRITERS, newWriter } from "./writers.js";

/** Database client for `postgresStore`: a `Pool` or a connected `Client` of the package pg. */
export interface PostgresClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

const CREATE =
  "CREATE TABLE IF NOT EXISTS brume_snapshots (name text PRIMARY KEY, sequence bigint NOT NULL, bytes bytea NOT NULL, writers jsonb NOT NULL DEFAULT '{}')";
/** Fails if the table was made before it had this column. */
const HAS_WRITERS = "SELECT writers FROM brume_snapshots LIMIT 0";
const ADD_WRITERS =
  "ALTER TABLE brume_snapshots ADD COLUMN IF NOT EXISTS writers jsonb NOT NULL DEFAULT '{}'";

/** A row is new with sequence 1, follows the one that is there, or is that one. In one order, so that two calls never wait for each other. */
const PUT = `
  INSERT INTO brume_snapshots (name, sequence, bytes, writers)
  SELECT given.name, given.sequence, given.bytes,
    jsonb_build_object($5::text, jsonb_build_array(given.sequence, given.digest))
  FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[]) AS given (name, sequence, bytes, digest)
  WHERE given.sequence = 1 OR EXISTS (SELECT 1 FROM brume_snapshots AS old WHERE old.name = given.name)
  ORDER BY given.name
  ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, bytes = excluded.bytes, writers = (
    SELECT jsonb_object_agg(key, value) FROM (
      SELECT key, value FROM jsonb_each(brume_snapshots.writers || excluded.writers)
      ORDER BY (value ->> 0)::bigint DESC LIMIT ${MOST_WRITERS}
    ) AS latest)
  WHERE brume_snapshots.sequence = excluded.sequence - 1
    OR (brume_snapshots.sequence = excluded.sequence AND brume_snapshots.bytes = excluded.bytes)
  RETURNING name`;

/** Whether a refused snapshot was stored by the same call, which the client sent twice, and others have continued it. */
const WAS_STORED =
  "SELECT 1 FROM brume_snapshots WHERE name = $1 AND writers -> $4::text = jsonb_build_array($2::bigint, $3::text)";

const GET = "SELECT sequence, bytes FROM brume_snapshots WHERE name = $1";
const GET_MANY = "SELECT name, sequence, bytes FROM brume_snapshots WHERE name = ANY ($1::text[])";

/** Settings with which the server acknowledges what a crash can take back. */
const UNSAFE =
  "SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name";

interface StoredRow {
  readonly sequence: string;
  readonly bytes: Buffer;
}

const snapshotOf = (row: StoredRow | undefined): StoredSnapshot | undefined =>
  row && { sequence: Number(row.sequence), bytes: row.bytes };

/**
 * A server that does not flush what it commits can lose what it has acknowledged. Then a stream would publish positions
 * again, so this store refuses such a server.
 * @param client a `Pool` or a connected `Client` of the package pg
 */
export async function postgresStore(client: PostgresClient): Promise<Store> {
  await checkFlushes(client);
  // Two processes that create the table at the same time: one of them fails, and the table is there.
  await client.query(CREATE).catch(() => client.query(CREATE));
  await client.query(HAS_WRITERS).catch(() => client.query(ADD_WRITERS));
  const writer = newWriter();
  const put = async (snapshots: readonly NamedSnapshot[]): Promise<Set<string>> => {
    const { rows } = await client.query(PUT, [
      snapshots.map(({ name }) => name),
      snapshots.map(({ sequence }) => sequence),
      snapshots.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
      snapshots.map(({ bytes }) => digestOf(bytes)),
      writer,
    ]);
    const stored = new Set((rows as { name: string }[]).map(({ name }) => name));
    for (const { name, sequence, bytes } of snapshots) {
      if (stored.has(name)) continue;
      const { rows: found } = await client.query(WAS_STORED, [name, sequence, digestOf(bytes), writer]);
      if (found.length > 0) stored.add(name);
    }
    return stored;
  };
  return finalConflicts({
    durable: true,
    async get(name) {
      const { rows } = await client.query(GET, [name]);
      return snapshotOf((rows as StoredRow[])[0]);
    },
    async getMany(names) {
      const { rows } = await client.query(GET_MANY, [names]);
      const found = new Map((rows as (StoredRow & { name: string })[]).map((row) => [row.name, row]));
      return names.map((name) => snapshotOf(found.get(name)));
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
  });
}

async function checkFlushes(client: PostgresClient): Promise<void> {
  const { rows } = await client.query(UNSAFE);
  const [unsafe] = rows as { name: string }[];
  if (unsafe === undefined) return;
  throw new StoreError(
    "unsupported",
    `postgresStore: expected a server with ${unsafe.name} on, got off; it loses what it acknowledged in a crash, and positions would be published again. Turn it on for the server, the database and the user`,
  );
}
