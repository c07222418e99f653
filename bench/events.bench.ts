/**
 * What does an event cost? `add` against its bare arithmetic, with people against a Map of ids; the periods of a day of a
 * histogram against the js core; bytes that a person takes, and that a key takes at noon and before midnight. In the middle of a period all of
 * it is plain JavaScript.
 */
import { privateCounter, privateHistogram } from "../src/index.js";
import { chooseNoise } from "../src/core/choose.js";
import { secretKey } from "../src/core/random.js";
import { SmallArrays } from "../src/core/smallArrays.js";
import { EventMetric } from "../src/events/eventMetric.js";
import { type EventStreamOptions, type HistogramOptions, resolveEvents } from "../src/events/options.js";
import { People } from "../src/events/people/people.js";
import { collectGarbage, measure, row, type Row } from "./harness.js";

const COUNT = 65_536;
const EVERY = 1000;
const PEOPLE = 1_000_000;
const times = Float64Array.from({ length: COUNT }, (_, i) => (i * 7919) % EVERY); // all in one period
const values = Float64Array.from({ length: COUNT }, (_, i) => 1 + ((i * 7919) % 10_007));
const common = { epsilon: 1, every: EVERY, clock: () => 0, unsafeSeed: "events" };
const DAY = 86_400_000;

export async function* rows(): AsyncGenerator<Row> {
  yield await adding();
  yield await addingToBuckets();
  yield* await addingForPeople();
  for (const buckets of [64, 1024]) yield await days(buckets);
  for (const one of KEPT) yield memory(...one);
}

const edges = { min: 1, max: 60_000 };
/** A kind of stream whose memory is measured, and how many keys of it are made. */
const KEPT: readonly [name: string, keys: number, options: Partial<HistogramOptions>][] = [
  ["counter, 1h·1d", 4000, { every: "1h" }],
  ["counter, 1m·1h·1d", 2000, { every: "1m" }],
  ["histogram of 64 buckets, 1h·1d", 400, { every: "1h", edges }],
  ["histogram of 64 buckets, 1m·1h·1d", 200, { every: "1m", edges }],
];

/**
 * Bytes that a key of a metric takes with an event in its open period: its secret key, corrections, open sums, and the noise
 * and numbers since midnight, which take a byte each while all are small.
 */
function memory(name: string, keys: number, options: Partial<HistogramOptions>): Row {
  bytesPerKey(keys, options, 12); // compiles the code
  const [noon, evening] = [12, 23].map((hour) => bytesPerKey(keys, options, hour));
  const what = `${name}: ${Math.round(noon!)} bytes a key at noon, ${Math.round(evening!)} at 23:00`;
  return { ...row("events", what, null, null, null, null), keys, bytesPerKey: noon! };
}

function bytesPerKey(keys: number, options: Partial<HistogramOptions>, hour: number): number {
  let now = Date.UTC(2026, 2, 1);
  const of = options.edges === undefined ? { of: "count" as const } : {};
  const asked = { epsilon: 1, ...of, ...options, clock: () => now } as EventStreamOptions | HistogramOptions;
  const settings = resolveEvents(asked);
  const names = Array.from({ length: keys }, (_, i) => String(i));
  const before = held();
  const small = new SmallArrays();
  const release = () => {
    const key = small.zeros(Uint32Array, 8); // as a hub keeps them
    key.set(secretKey());
    return key;
  };
  const secrets = { people: new Uint32Array(4), own: secretKey(), release };
  const metric = new EventMetric(settings, chooseNoise("auto"), secrets, now, names);
  now += (hour * DAY) / 24;
  while (metric.closeNext(now, now) !== undefined);
  for (const name of names) metric.add(name, 5, undefined);
  const bytes = (held() - before) / keys;
  metric.due(now); // it is still there
  return bytes;
}

function held(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Counts events per period by plain arithmetic, without limits or noise: the floor for `add`. */
function bare(): number {
  const rows = new Map([[0, new Float64Array(1)]]);
  for (let i = 0; i < COUNT; i++) {
    const period = Math.floor(times[i]! / EVERY);
    if (Number.isFinite(values[i]) && period >= 0) rows.get(period)![0]! += 1;
  }
  return rows.get(0)![0]!;
}

function adding(): Promise<Row> {
  const counter = privateCounter(common);
  return measure({
    path: "events",
    case: `${COUNT} events counted, in the middle of a period (limit: bare arithmetic)`,
    js() {
      for (let i = 0; i < COUNT; i++) counter.add({ at: times[i]! });
    },
    limit: bare,
  });
}

function addingToBuckets(): Promise<Row> {
  const histogram = privateHistogram({ ...common, edges: { min: 1, max: 60_000 } });
  return measure({
    path: "events",
    case: `${COUNT} events into 64 buckets, in the middle of a period (limit: bare arithmetic of a count)`,
    js() {
      for (let i = 0; i < COUNT; i++) histogram.add(values[i]!, { at: times[i]! });
    },
    limit: bare,
  });
}

/** Made from bytes, as a request brings it. */
const idOf = (i: number): string => Buffer.from(`user-${i}@example.org`, "latin1").toString("latin1");

/** All people have been there: a hash and a look-up each. Ids are made before they are timed, in the order they come. */
async function addingForPeople(): Promise<Row[]> {
  const counter = privateCounter({ ...common, perPerson: 60_000 });
  const plain = new Map<string, number>();
  const limit = { events: 5, perHour: undefined, sum: undefined, people: 16 };
  const people = new People(new Uint32Array(4), limit, 5);
  for (let i = 0; i < PEOPLE; i++) {
    const person = idOf(i);
    counter.add({ at: 0, person });
    plain.set(person, 1);
    people.admit(people.hash(person), 0, 0, 1);
  }
  let next = 0;
  let ids: string[] = [];
  const prepare = () => {
    ids = Array.from({ length: COUNT }, () => idOf((next = (next + 15_485_863) % PEOPLE)));
  };
  const adding = await measure({
    path: "events",
    case: `${COUNT} events counted, by ${PEOPLE} people (naive: a Map of ids in the clear)`,
    js: {
      prepare,
      run() {
        for (let i = 0; i < COUNT; i++) counter.add({ at: times[i]!, person: ids[i]! });
      },
    },
    naive: {
      prepare,
      run() {
        for (let i = 0; i < COUNT; i++) plain.set(ids[i]!, plain.get(ids[i]!)! + 1);
      },
    },
  });
  const bytes = people.bytes / PEOPLE;
  const memory = row("events", `${PEOPLE} people: ${bytes.toFixed(1)} bytes each`, null, null, null, null);
  return [adding, { ...memory, keys: PEOPLE, bytesPerKey: bytes }];
}

/** A day of hours: noise is drawn at midnight, and every `advance` by an hour estimates all buckets and answers. */
function days(buckets: number): Promise<Row> {
  const closing = (core: "wasm" | "js") => {
    let now = 0;
    const histogram = privateHistogram({
      ...common,
      every: "1h",
      clock: () => now,
      edges: { min: 1, max: 60_000, buckets },
      core,
    });
    return () => {
      for (const end = now + DAY; now < end;) histogram.advance((now += DAY / 24));
    };
  };
  return measure({
    path: "events",
    case: `24 hours of a histogram with ${buckets} buckets end, noise included`,
    wasm: closing("wasm"),
    js: closing("js"),
  });
}
