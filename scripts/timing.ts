/**
 * Does the time of a push tell anything about the value, or about its noise?
 *
 *     npm run measure -- timing [--pushes 1e6]
 *     npm run measure -- timing --votes 1e5     events of a hub whose keys are found: public, candidate and new keys
 *
 * Every push is timed on its own, small and large values in random order, and Welch's t compares the two groups
 * after the slowest percent (interrupts, garbage collection) is left out. |t| > 4.5 is what dudect calls a leak.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { openHub, privateStream, type StreamOptions } from "../src/index.js";
import { Dice } from "./fuzz/dice.js";

interface Timed {
  readonly value: number;
  /** |published − value|: the noise, where every value is a block of its own. */
  readonly noise: number;
  readonly nanoseconds: number;
}

const MAX = 1000;

function timePushes(options: StreamOptions, pushes: number, dice: Dice): Timed[] {
  const stream = privateStream(options);
  const timed: Timed[] = [];
  const WARM_UP = 50_000;
  for (let i = -WARM_UP; i < pushes; i++) {
    const value = dice.chance(0.5) ? 1 : MAX;
    const start = process.hrtime.bigint();
    const published = stream.push(value)!;
    const nanoseconds = Number(process.hrtime.bigint() - start);
    if (i >= 0) timed.push({ value, noise: Math.abs(published - value), nanoseconds });
  }
  return timed;
}

interface Comparison {
  readonly t: number;
  readonly means: readonly [number, number];
  readonly counts: readonly [number, number];
}

/** Welch's t between two groups of times. */
function welch(timed: readonly Timed[], second: (one: Timed) => boolean): Comparison {
  const sorted = timed.map(({ nanoseconds }) => nanoseconds).sort((a, b) => a - b);
  const most = sorted[Math.floor(0.99 * sorted.length)]!;
  const groups = [false, true].map((side) => {
    const times = timed.filter((one) => one.nanoseconds <= most && second(one) === side);
    const mean = times.reduce((sum, { nanoseconds }) => sum + nanoseconds, 0) / times.length;
    const squares = times.reduce((sum, { nanoseconds }) => sum + (nanoseconds - mean) ** 2, 0);
    return { mean, count: times.length, error: squares / (times.length - 1) / times.length };
  });
  const [a, b] = groups as [(typeof groups)[0], (typeof groups)[0]];
  return {
    t: (b.mean - a.mean) / Math.sqrt(a.error + b.error),
    means: [a.mean, b.mean],
    counts: [a.count, b.count],
  };
}

function print(question: string, { t, means, counts }: Comparison): void {
  const [a, b] = means.map((mean) => mean.toFixed(1));
  console.log(`${question}: ${a} ns (${counts[0]}) against ${b} ns (${counts[1]}), t = ${t.toFixed(2)}`);
}

/** Times from an event's `add` to its answer, one event a commit; `value` says which kind its key is. */
async function timeVotes(adds: number, dice: Dice): Promise<Timed[]> {
  const hub = openHub({
    commitEvery: 0,
    metrics: {
      views: {
        ...{ of: "count", epsilon: 1, every: "1h", perPerson: { events: 5, people: adds } },
        keys: { listed: ["/page/public"], discover: { delta: 1e-9 } },
      },
    },
  });
  const nameOf = (kind: number, i: number): string =>
    kind === 0 ? "/page/public" : kind === 1 ? `/page/${1000 + dice.below(50)}` : `/page/${100_000 + i}`;
  const timed: Timed[] = [];
  const WARM_UP = 5000;
  for (let i = -WARM_UP; i < adds; i++) {
    const value = dice.below(3);
    const [name, person] = [nameOf(value, i + WARM_UP), `person ${i}`];
    const start = process.hrtime.bigint();
    await hub.add("views", name, 1, { person });
    const nanoseconds = Number(process.hrtime.bigint() - start);
    if (i >= 0) timed.push({ value, noise: 0, nanoseconds });
  }
  return timed;
}

const { values } = parseArgs({
  options: { pushes: { type: "string", default: "1e6" }, votes: { type: "string" } },
});
if (values.votes !== undefined) {
  const timed = await timeVotes(Number(values.votes), new Dice(3, 0));
  for (const [first, second, words] of [
    [0, 1, "a public key or a candidate"],
    [0, 2, "a public key or a new one"],
    [1, 2, "a candidate or a new key"],
  ] as const) {
    const pair = timed.filter(({ value }) => value === first || value === second);
    print(
      words,
      welch(pair, ({ value }) => value === second),
    );
  }
  process.exit(0);
}
const pushes = Number(values.pushes);
console.log(`${pushes} pushes each, Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`);
for (const core of ["wasm", "js"] as const) {
  const fixed = { epsilon: 1, max: MAX, threshold: MAX, core };
  // One level, one value a block: every push draws noise of its own.
  const drawing = timePushes({ ...fixed, tuning: { fanout: 16 }, maxRange: 16 }, pushes, new Dice(1, 0));
  const median = drawing.map(({ noise }) => noise).sort((a, b) => a - b)[pushes >> 1]!;
  print(
    `${core}, noise below or above its median`,
    welch(drawing, ({ noise }) => noise > median),
  );
  print(
    `${core}, noise up to or beyond 5 scales`,
    welch(drawing, ({ noise }) => noise > 5 * MAX),
  );
  print(
    `${core}, value 1 or ${MAX}, noise at every push`,
    welch(drawing, ({ value }) => value === MAX),
  );
  const adding = timePushes(fixed, pushes, new Dice(2, 0));
  print(
    `${core}, value 1 or ${MAX}, default blocks`,
    welch(adding, ({ value }) => value === MAX),
  );
}
