/**
 * How long do a hold-out, a release and a push take, against an older version of the library? Both run in turns in one process, so
 * that only ratios need to be believed. The older version is a bundle, made in a checkout of it by
 *
 *     npm ci && npm run build:wasm && npx esbuild src/index.ts --bundle --platform=node --format=esm --outfile=older.mjs
 *     npx tsx bench/peers/older.ts PATH/older.mjs
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { zooStream } from "../../research/zoo/zoo.js";
import { privateStream } from "../../src/index.js";

type Made = { push(value: number): number | undefined; pushMany(values: Float64Array): Float64Array };
type Make = (options: { epsilon: number; max: number; unsafeSeed: string }) => Made;

const older = (await import(pathToFileURL(resolve(process.argv[2]!)).href)) as {
  tops?: Make;
  privateStream?: Make;
};
const makers: Record<string, Make> = { older: older.privateStream ?? older.tops!, now: privateStream };
const [HELD, COUNT, ROUNDS] = [65_536, 2 ** 20, 41];
const values = zooStream("exponential", HELD + COUNT);
const options = { epsilon: 0.1, max: 2000, unsafeSeed: "older" };

const times = new Map<string, number[]>();
const time = (name: string, work: () => void): void => {
  const start = performance.now();
  work();
  times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
};
const [held, released] = [values.slice(0, HELD), values.slice(HELD)];
for (let round = 0; round < ROUNDS; round++)
  for (const [name, make] of Object.entries(makers)) {
    const stream = make(options);
    time(`hold-out of 65 536 values, ${name}`, () => void stream.pushMany(held));
    time(`release of 2²⁰ values, ${name}`, () => void stream.pushMany(released));
    time(`2¹⁷ values one at a time, ${name}`, () => {
      for (let i = 0; i < 2 ** 17; i++) stream.push(held[i % HELD]!);
    });
  }
// Last: engines that have seen a push give nothing back compile all pushes for that.
for (let round = 0; round < ROUNDS; round++)
  for (const [name, make] of Object.entries(makers)) {
    const stream = make(options);
    time(`hold-out of 65 536 values one at a time, ${name}`, () => {
      for (let i = 0; i < HELD; i++) stream.push(held[i]!);
    });
  }
for (const [name, list] of times) {
  const sorted = list.sort((a, b) => a - b);
  console.log(`${name}: least ${sorted[0]!.toFixed(2)} ms, median ${sorted[ROUNDS >> 1]!.toFixed(2)} ms`);
}
