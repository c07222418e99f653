/** Streams of events, counters and histograms, with and without limits per person: random calls, each on both cores. */
import {
  type Counter,
  type EventAnswer,
  type EventStream,
  type EventStreamOptions,
  type Histogram,
  type HistogramOptions,
  privateCounter,
  privateHistogram,
  privateStream,
  restore,
} from "../../src/index.js";
import { outcome, same } from "./compare.js";
import type { Dice } from "./dice.js";
import { randomEvents, TICK } from "./eventOptions.js";
import type { Tally } from "./tally.js";

const KEY = new Uint8Array(32).fill(9);

type Events = EventStream | Counter | Histogram;
type Options = EventStreamOptions | HistogramOptions;
type Call = (events: Events) => unknown;

/** Two that should do the same, and the public time that both are told. */
interface Pair {
  wasm: Events;
  js: Events;
  readonly options: Options;
  /** Milliseconds since 1970, and how far the events of a call lie around it. */
  now: number;
  readonly max: number;
}

/** Makes exactly `calls` calls and compares each. */
export async function driveEvents(dice: Dice, calls: number, tally: Tally): Promise<void> {
  for (let left = calls; left > 0; left--) {
    const pair = make(dice);
    tally.add(pair ? "events made" : "event options refused");
    if (pair === undefined) continue;
    try {
      for (; left > 1; left--) await callOnce(dice, pair, tally);
    } catch (reason) {
      throw new Error(`${(reason as Error).message} on ${JSON.stringify(pair.options)}`, { cause: reason });
    }
    note(pair, tally);
  }
}

function make(dice: Dice): Pair | undefined {
  const clock = () => pair.now;
  const options = { ...randomEvents(dice), clock };
  const pair: Pair = { wasm: never, js: never, options, now: options.origin, max: options.max ?? 30 };
  const [wasm, js] = (["wasm", "js"] as const).map((core) => outcome(() => begin({ ...options, core })));
  if (typeof wasm === "string" || typeof js === "string") {
    if (wasm !== js) throw new Error(`options are refused differently: ${JSON.stringify(options)}`);
    return undefined;
  }
  return Object.assign(pair, { wasm, js });
}

const never = undefined as unknown as Events;

function begin(options: Options): Events {
  if ("edges" in options) return privateHistogram(options);
  if (options.of !== "count") return privateStream(options);
  const { of: _, ...counter } = options;
  return privateCounter(counter);
}

async function callOnce(dice: Dice, pair: Pair, tally: Tally): Promise<void> {
  if (dice.chance(1 / 200)) {
    tally.add("event snapshot and restore");
    return swap(pair);
  }
  const [name, call] = randomCall(dice, pair);
  tally.add(name);
  if (!same(outcome(call, pair.wasm), outcome(call, pair.js))) throw new Error(`${name} differs`);
  if (!same(pair.wasm.dropped, pair.js.dropped) || pair.wasm.closed !== pair.js.closed)
    throw new Error(`${name}: counters differ`);
}

/** Each resumes on the other core: every call after it compares the two again. */
async function swap(pair: Pair): Promise<void> {
  const [fromWasm, fromJs] = [await pair.wasm.snapshot(KEY), await pair.js.snapshot(KEY)];
  if (fromWasm.length !== fromJs.length) throw new Error("event snapshots: lengths differ");
  const { options } = pair;
  pair.wasm = await restore(fromJs, KEY, { ...options, core: "wasm" } as EventStreamOptions);
  pair.js = await restore(fromWasm, KEY, { ...options, core: "js" } as EventStreamOptions);
}

function randomCall(dice: Dice, pair: Pair): [name: string, call: Call] {
  const roll = dice.unit();
  if (roll < 0.55) return randomEvent(dice, pair);
  if (roll < 0.8) {
    pair.now += Math.round(TICK * dice.pick([0, 0.3, 1, 1, dice.scaled(1, 60)]));
    const now = dice.chance(0.5) ? undefined : pair.now;
    return ["advance", (events) => events.advance(now)];
  }
  if (roll < 0.95) return randomWindow(dice, pair);
  if (roll < 0.97) return ["event statement", (events) => ({ ...events.statement(), core: "" })];
  return ["bad event", badCall(dice, pair.now)];
}

/** Around now, with some that are late and some ahead; few people, so that their limits are met. */
function randomEvent(dice: Dice, { now, max, options }: Pair): [name: string, call: Call] {
  const at = Math.round(now + TICK * (dice.unit() * 8 - 3));
  const person = options.perPerson === undefined ? {} : { person: `person ${dice.below(12)}` };
  const value = dice.pick([dice.unit() * max, dice.unit() * max, max, 2 * max, 0, -1, -0, max / 3]);
  return ["event", (events) => add(events, options, value, { at, ...person })];
}

function add(events: Events, options: Options, value: number, event: object): void {
  if ("of" in options && options.of === "count") (events as Counter).add(event);
  else (events as EventStream).add(value, event);
}

function randomWindow(dice: Dice, { now, options }: Pair): [name: string, call: Call] {
  const [a, b] = [0, 0].map(() => Math.round(now - TICK * dice.scaled(1, 400)));
  const [from, to] = [Math.min(a!, b!), Math.max(a!, b!)];
  if (!("edges" in options))
    return ["between", (events) => (events as EventStream).between(from, to, { confidence: 0.9 })];
  const query = { quantiles: [0.5, 0.05 + 0.9 * dice.unit()], shares: [30 * dice.unit()], confidence: 0.9 };
  return ["histogram between", (events) => (events as Histogram).between(from, to, query)];
}

const BAD = [NaN, Infinity, -Infinity, "1", null, {}, 1n] as const;

function badCall(dice: Dice, now: number): Call {
  const bad = dice.pick(BAD) as number;
  return dice.pick<Call>([
    (events) => (events as EventStream).add(bad, { at: now }),
    (events) => (events as EventStream).add(1, { at: bad }),
    (events) => (events as EventStream).add(1, { at: now, person: bad as unknown as string }),
    (events) => events.advance(bad),
    (events) => (events as { between(from: number, to: number): EventAnswer }).between(bad, now),
    (events) => (events as EventStream).between(now, now + 1, { confidence: bad }),
  ]);
}

/** What this one has seen. */
function note({ wasm, options }: Pair, tally: Tally): void {
  const kind = "edges" in options ? "histogram" : (options.of ?? "sum");
  tally.add(`events: ${kind}`);
  if (options.perPerson !== undefined && wasm.dropped.overLimit > 0) tally.add("limit of a person met");
  const { threshold, holdoutTicks } = wasm.statement();
  if (holdoutTicks > 0 && threshold !== null && wasm.closed > holdoutTicks) tally.add("events: θ chosen");
}
