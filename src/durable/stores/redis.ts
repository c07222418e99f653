/** Snapshots in Redis: one hash per stream, and a set of all names. `putMany` is one script, and so one step. */
import { conflict, finalConflicts, type NamedSnapshot, type Store } from "./store.js";
import { digestOf, MOST_WRITERS, newWriter } from "./writers.js";

/** Connection for `redisStore`: a connected client of the package redis. */
export interface RedisClient {
  sendCommand(command: string[]): Promise<unknown>;
}

export interface RedisStoreOptions {
  /** Prefix of all keys. Default "brume". */
  readonly prefix?: string;
  /**
   * You know that this server flushes every write before it answers (appendonly yes, appendfsync always). Needed where
   * the server does not let clients read its settings. Default false: the store asks the server.
   */
  readonly flushesAlways?: boolean;
}

/**
 * A writer, and for each stream: name, sequence, bytes, digest. Answers 1 for each that is stored, by this call or by an
 * earlier one whose answer was lost.
 */
const PUT = `
  local answers = {}
  local writer = ARGV[1]
  for i = 2, #ARGV, 4 do
    local name, sequence, digest = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 3]
    local key = KEYS[1] .. ':stream:' .. name
    local newest = tonumber(redis.call('HGET', key, 'sequence') or '0')
    local writers = cjson.decode(redis.call('HGET', key, 'writers') or '{}')
    local own = writers[writer]
    local answer = 0
    if newest == sequence - 1 then
      writers[writer] = { sequence, digest }
      local count, oldest = 0, writer
      for other, last in pairs(writers) do
        count = count + 1
        if last[1] < writers[oldest][1] then oldest = other end
      end
      if count > ${MOST_WRITERS} then writers[oldest] = nil end
      redis.call('HSET', key, 'sequence', ARGV[i + 1], 'bytes', ARGV[i + 2], 'writers', cjson.encode(writers))
      redis.call('SADD', KEYS[1] .. ':names', name)
      answer = 1
    elseif newest == sequence and redis.call('HGET', key, 'bytes') == ARGV[i + 2] then
      answer = 1
    elseif own and own[1] == sequence and own[2] == digest then
      answer = 1 -- and others have continued it
    end
    answers[#answers + 1] = answer
  end
  return answers`;

const REMOVE = `
  local key = KEYS[1] .. ':stream:' .. ARGV[1]
  if redis.call('HGET', key, 'sequence') ~= ARGV[2] then return 0 end
  redis.call('SREM', KEYS[1] .. ':names', ARGV[1])
  return redis.call('DEL', key)`;

/**
 * A Redis server that does not flush every write can lose what it has acknowledged. Then a stream would publish positions
 * again, so this store refuses such a server.
 * @param client a connected client of the package redis
 */
export async function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Promise<Store> {
  const { prefix = "brume", flushesAlways = false } = options;
  const base = `{${prefix}}`; // in a cluster all keys are on one server
  if (!flushesAlways) await checkFlushes(client);
  const run = (script: string, ...values: string[]) =>
    client.sendCommand(["EVAL", script, "1", base, ...values]);
  const writer = newWriter();
  const put = async (snapshots: readonly NamedSnapshot[]): Promise<boolean[]> => {
    const values = snapshots.flatMap(({ name, sequence, bytes }) => [
      name,
      String(sequence),
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
      digestOf(bytes),
    ]);
    return ((await run(PUT, writer, ...values)) as number[]).map((answer) => answer === 1);
  };
  return finalConflicts({
    durable: true,
    async get(name) {
      const found = await client.sendCommand(["HMGET", `${base}:stream:${name}`, "sequence", "bytes"]);
      const [sequence, bytes] = found as [string | null, string | null];
      if (sequence === null || bytes === null) return undefined;
      return { sequence: Number(sequence), bytes: Buffer.from(bytes, "base64") };
    },
    async put(name, sequence, bytes) {
      const [stored] = await put([{ name, sequence, bytes }]);
      if (!stored) throw conflict(name, sequence);
    },
    async putMany(snapshots) {
      return snapshots.length === 0 ? [] : put(snapshots);
    },
    async names() {
      return (await client.sendCommand(["SMEMBERS", `${base}:names`])) as string[];
    },
    async remove(name, sequence) {
      if ((await run(REMOVE, name, String(sequence))) !== 1) throw conflict(name, sequence);
    },
  });
}

async function checkFlushes(client: RedisClient): Promise<void> {
  for (const [setting, wanted] of [
    ["appendonly", "yes"],
    ["appendfsync", "always"],
  ] as const) {
    const answer: unknown = await client.sendCommand(["CONFIG", "GET", setting]).catch((cause: unknown) => {
      throw new Error(
        `redisStore: expected to read the setting ${setting} of the server; give flushesAlways: true if you know that it flushes every write`,
        { cause },
      );
    });
    const value = Array.isArray(answer)
      ? (answer as unknown[])[1]
      : (answer as Record<string, unknown> | null)?.[setting];
    if (value !== wanted)
      throw new Error(
        `redisStore: expected a server with ${setting} ${wanted}, got ${String(value)}; with other settings it loses writes in a crash, and positions would be published again`,
      );
  }
}
