/** Do a million streams fit in one process? The memory of the whole process, as the system counts it, and bytes per key. */
import { openHub } from "../src/index.js";
import { collectGarbage, row, type Row } from "./harness.js";

const KEYS = 1_000_000;
const options = { epsilon: 1, max: 1000, threshold: 1000, maxRange: 4096, live: 1024 };
/** Calls under way at once, as in a service. */
const AT_ONCE = 64;
const values = Float64Array.from({ length: 16 }, (_, i) => (i * 7919) % 1000);

function held(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export async function* rows(): AsyncGenerator<Row> {
  const what = `${KEYS} keys × ${values.length} values, ${options.live} live, others as snapshots`;
  process.stderr.write(`hub-million: ${what}\n`);
  const hub = openHub(options);
  const before = held();
  const start = process.cpuUsage();
  for (let from = 0; from < KEYS; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, KEYS - from) }, (_, i) =>
        hub.pushMany(`key ${from + i}`, values),
      ),
    );
  const { user, system } = process.cpuUsage(start);
  const ms = (user + system) / 1000;
  const bytesPerKey = (held() - before) / KEYS;
  const most = process.resourceUsage().maxRSS * 1024;
  await hub.pushMany("key 0", values); // all are still there
  const figures = `${Math.round(bytesPerKey)} bytes per key; the process had at most ${(most / 2 ** 30).toFixed(2)} GiB`;
  yield {
    ...row("hub-million", `${what}: ${figures} (ms of processor time)`, ms, null, null, null),
    ...{ keys: KEYS, bytesPerKey, residentBytes: most },
  };
}
