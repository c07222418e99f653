/** How many streams fit in one process, and how fast are they? Opponent in bytes: a Map that keeps them live. */
import { openHub, privateStream, type System } from "../src/index.js";
import { collectGarbage, row, type Row } from "./harness.js";

const KEYS = 100_000;
const options = { epsilon: 0.5, max: 1000, maxRange: 4096, holdout: 256 };
/** Calls under way at once, as in a service. */
const AT_ONCE = 64;
/** Each stream gets past its hold-out. */
const values = Float64Array.from({ length: 320 }, (_, i) => (i * 7919) % 1000);

/** Bytes held by this process's objects and buffers. */
function held(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Gives `keys` streams their values; the milliseconds that took, and the bytes that a stream holds afterwards. */
async function fill(keys: number, push: (name: string) => unknown): Promise<{ ms: number; bytes: number }> {
  const before = held();
  const start = performance.now();
  for (let from = 0; from < keys; from += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, keys - from) }, (_, i) => `stream ${from + i}`);
    await Promise.all(names.map(push));
  }
  const ms = performance.now() - start;
  return { ms, bytes: (held() - before) / keys };
}

export async function* rows(): AsyncGenerator<Row> {
  const what = `${KEYS} keys × ${values.length} values, 1024 live, others as snapshots`;
  process.stderr.write(`hub: ${what}\n`);
  const streams = openHub({ ...options, live: 1024 });
  const { ms, bytes } = await fill(KEYS, (name) => streams.pushMany(name, values));
  const residentBytes = process.memoryUsage().rss;
  const live = new Map<string, System>();
  const naive = await fill(KEYS / 10, (name) => {
    const stream = privateStream(options);
    live.set(name, stream);
    return stream.pushMany(values);
  });
  const valuesPerSecond = (KEYS * values.length * 1000) / ms;
  const figures = `${(valuesPerSecond / 1e6).toPrecision(2)} M values/s, ${Math.round(bytes)} bytes per key (live: ${Math.round(naive.bytes)})`;
  yield {
    ...row("hub", `${what}: ${figures}`, ms, null, null, null),
    keys: KEYS,
    valuesPerSecond,
    bytesPerKey: bytes,
    residentBytes,
  };
}
