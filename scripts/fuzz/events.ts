/** Streams of events, counters and histograms, with and without limits per person: random calls, each on both cores. */
import type { Counter, EventStream } from "../../src/events/answer/answers.js";
import { Calendar } from "../../src/events/days/calendar.js";
import type { Histogram } from "../../src/events/answer/histogramAnswers.js";
import { beginEvents, restoreEvents } from "../../src/events/kinds.js";
import type { EventStreamOptions } from "../../src/events/options.js";
import { outcome, same } from "./compare.js";
import type { Dice } from "./dice.js";
import { randomEvents, type RandomEvents } from "./eventOptions.js";
import type { Tally } from "./tally.js";

const KEY = new Uint8Array(32).fill(9);

type Events = EventStream | Counter | Histogram;
type Call = (events: Events) => unknown;

/** Two that should do the same, and the public time that both are told. */
interface Pair {
  wasm: Events;
  js: Events;
  readonly options: RandomEvents;
  /** Milliseconds since 1970. */
  readonly start: number;
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
  const { options, start } = randomEvents(dice);
  const clock = () => pair.now;
  const pair: Pair = {
    ...{ wasm: never, js: never, options: { ...options, clock }, start, now: start },
    max: options.max ?? 30,
  };
  const [wasm, js] = (["wasm", "js"] as const).map((core) =>
    outcome(() => beginEvents({ ...pair.options, core })),
  );
  if (typeof wasm === "string" || typeof js === "string") {
    if (wasm !== js) throw new Error(`options are refused differently: ${JSON.stringify(options)}`);
    return undefined;
  }
  return Object.assign(pair, { wasm, js });
}

const never = undefined as unknown as Events;

/** Calls whose arguments are always valid. */
const NEVER_FAIL = ["advance", "between", "histogram between", "last", "event statement"];

async function callOnce(dice: Dice, pair: Pair, tally: Tally): Promise<void> {
  if (dice.chance(1 / 100)) {
    tally.add("event snapshot and restore");
    const missed = dice.chance(0.5) ? 0 : dice.scaled(0.5, 50);
    if (missed > 2) tally.add("missed periods");
    return swap(pair, Math.round(missed * pair.options.every));
  }
  const [name, call] = randomCall(dice, pair);
  tally.add(name);
  const came = outcome(call, pair.wasm);
  if (!same(came, outcome(call, pair.js))) throw new Error(`${name} differs`);
  if (NEVER_FAIL.includes(name) && typeof came === "string") throw new Error(`${name} fails: ${came}`);
  if (!same(pair.wasm.dropped, pair.js.dropped)) throw new Error(`${name}: counters differ`);
}

/** Each resumes on the other core, after a time in which no process listened: every call after it compares the two again. */
async function swap(pair: Pair, missed: number): Promise<void> {
  const [fromWasm, fromJs] = [await pair.wasm.snapshot(KEY), await pair.js.snapshot(KEY)];
  if (fromWasm.length !== fromJs.length) throw new Error("event snapshots: lengths differ");
  pair.now += missed;
  const options = pair.options as EventStreamOptions;
  pair.wasm = await restoreEvents(fromJs, KEY, { ...options, core: "wasm" });
  pair.js = await restoreEvents(fromWasm, KEY, { ...options, core: "js" });
}

function randomCall(dice: Dice, pair: Pair): [name: string, call: Call] {
  const roll = dice.unit();
  if (roll < 0.7) return randomEvent(dice, pair);
  if (roll < 0.85) {
    pair.now += Math.round(pair.options.every * dice.pick([0, 0.3, 1, 1, dice.scaled(1, 60)]));
    const now = dice.chance(0.5) ? undefined : pair.now;
    return ["advance", (events) => events.advance(now)];
  }
  if (roll < 0.95) return randomQuestion(dice, pair);
  if (roll < 0.97) return ["event statement", (events) => ({ ...events.statement(), core: "" })];
  return ["bad event", badCall(dice, pair.now)];
}

/** Around now, with some that are late and some ahead; few people, so that their limits are met. */
function randomEvent(dice: Dice, { now, max, options }: Pair): [name: string, call: Call] {
  const at = Math.round(now + options.every * (dice.unit() * 4 - 1));
  const person = options.perPerson === undefined ? {} : { person: `person ${dice.below(12)}` };
  const value = dice.pick([dice.unit() * max, dice.unit() * max, max, 2 * max, 0, -1, -0, max / 3]);
  return ["event", (events) => add(events, options, value, { at, ...person })];
}

function add(events: Events, options: RandomEvents, value: number, event: object): void {
  if (options.of === "count") (events as Counter).add(event);
  else (events as EventStream).add(value, event);
}

function randomQuestion(dice: Dice, { now, options }: Pair): [name: string, call: Call] {
  const [a, b] = [0, 0].map(() => Math.round(now - options.every * dice.scaled(1, 400)));
  const [from, to] = [Math.min(a!, b!), Math.max(a!, b!)];
  const histogram = options.edges !== undefined;
  const query = {
    confidence: 0.9,
    ...(histogram && { quantiles: [0.5, 0.05 + 0.9 * dice.unit()], shares: [30 * dice.unit()] }),
  };
  const roll = dice.unit();
  if (roll < 0.2) {
    const period = dice.pick(["auto", "1h", "1d", "1w", "1mo", options.every]);
    return ["series", (events) => events.series(period, from, to, query)];
  }
  if (roll < 0.4) {
    const length = options.every * Math.ceil(dice.scaled(1, 200));
    return ["last", (events) => events.last(length, query)];
  }
  return [histogram ? "histogram between" : "between", (events) => events.between(from, to, query)];
}

const BAD = [NaN, Infinity, -Infinity, "1", null, {}, 1n] as const;

function badCall(dice: Dice, now: number): Call {
  const bad = dice.pick(BAD) as number;
  return dice.pick<Call>([
    (events) => (events as EventStream).add(bad, { at: now }),
    (events) => (events as EventStream).add(1, { at: bad }),
    (events) => (events as EventStream).add(1, { at: now, person: bad as unknown as string }),
    (events) => events.advance(bad),
    (events) => events.between(bad, now),
    (events) => events.between(now, now + 1, { confidence: bad }),
    (events) => events.last(bad),
    (events) => events.series(bad, now - 1, now),
  ]);
}

/** Counts the states that this pair of event streams went through. */
function note({ wasm, options, start, now }: Pair, tally: Tally): void {
  const kind = options.edges === undefined ? (options.of ?? "sum") : "histogram";
  tally.add(`events: ${kind}`);
  const { perPerson, threshold } = options;
  if (perPerson !== undefined && wasm.dropped.overLimit > 0) tally.add("limit of a person met");
  if (typeof perPerson === "object" && perPerson.sum !== undefined) tally.add("events: a person's sum");
  if (typeof perPerson === "object" && perPerson.perHour !== undefined) tally.add("events: per hour");
  if (threshold === undefined && "holdout" in options && wasm.statement().threshold !== null)
    tally.add("events: θ chosen");
  if (wasm.statement().perPerson?.most !== undefined && wasm.statement().perPerson?.events !== undefined)
    tally.add("events: k chosen");
  const calendar = new Calendar(options.zone);
  const first = calendar.dayAt(start);
  const second = calendar.dayAt(first.end);
  if (now >= first.end) tally.add("events: a day ended");
  if (now >= second.end && second.end - second.start !== 86_400_000) tally.add("events: not 24 hours");
}
