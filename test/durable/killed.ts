/**
 * A service that publishes a stream to a log, and may be killed at any moment. Run as
 *
 *     node program.mjs <store folder> <log> <life> [early]
 *
 * Every life reads other values, so that noise used twice would show. `early` is the mistake the test must see:
 * numbers go out before the state behind them is stored, and the process dies in between.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { openStream, restore, privateStream } from "../../src/index.js";
import { fileStore } from "../../src/node.js";

export const options = {
  ...{
    epsilon: 1,
    max: 100,
    maxRange: 1024,
    holdout: 512,
    tuning: { skipLevels: 1 },
    name: "kill",
    unsafeSeed: "kill",
  },
};
const key = new Uint8Array(32).fill(1);

/** The value of the source at place i in one life. */
export const valueAt = (life: number, i: number): number => (i * 7919 + life * 104729) % 101;

/** A line ends with ";": one that was cut off does not count. */
export interface Log {
  /** In life `life`, values from place `received` on were read. */
  readonly lives: { readonly life: number; readonly received: number }[];
  readonly published: { readonly position: number; readonly value: number }[];
}

export function readLog(path: string): Log {
  const log: Log = { lives: [], published: [] };
  if (!existsSync(path)) return log;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.endsWith(";")) continue;
    const [word, one, two] = line.slice(0, -1).split(" ");
    if (word === "life") log.lives.push({ life: Number(one), received: Number(two) });
    else log.published.push({ position: Number(one), value: Number(two) });
  }
  return log;
}

function publish(path: string, from: number, numbers: Float64Array): void {
  if (numbers.length === 0) return;
  appendFileSync(path, `\n${[...numbers].map((number, i) => `at ${from + i} ${number};`).join("\n")}\n`);
}

/** Batches of 1 to 300 values. */
const batch = (life: number, from: number): Float64Array =>
  Float64Array.from({ length: 1 + ((from * 31 + life * 17) % 300) }, (_, i) => valueAt(life, from + i));

async function serve(folder: string, path: string, life: number): Promise<never> {
  const stream = await openStream({ ...options, store: fileStore(folder), key });
  const said = readLog(path).published.length;
  publish(path, said, await stream.published(said, stream.length)); // stored, but the last life could not say it
  appendFileSync(path, `\nlife ${life} ${stream.received};\n`);
  for (;;) {
    const from = stream.length;
    publish(path, from, await stream.pushMany(batch(life, stream.received)));
  }
}

async function serveEarly(folder: string, path: string, life: number): Promise<void> {
  const store = fileStore(folder);
  const found = await store.get(options.name);
  const stream = found === undefined ? privateStream(options) : await restore(found.bytes, key, options);
  appendFileSync(path, `\nlife ${life} ${stream.received};\n`);
  for (let batches = 0; ; batches++) {
    const from = stream.length;
    publish(path, from, stream.pushMany(batch(life, stream.received)));
    if (batches === 20) process.kill(process.pid, "SIGKILL");
    await store.put(options.name, stream.sequence + 1, await stream.snapshot(key));
  }
}

const [, script, folder, path, life, mode] = process.argv;
if (script?.endsWith("program.mjs"))
  await (mode === "early" ? serveEarly : serve)(folder!, path!, Number(life));
