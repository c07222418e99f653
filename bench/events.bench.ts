/**
 * What does an event cost? `add` against its bare arithmetic, with people against a Map of ids; the end of a block of a
 * histogram against the js core; bytes that a person takes. In the middle of a tick all of it is plain JavaScript.
 */
import { privateCounter, privateHistogram } from "../src/index.js";
import { People } from "../src/events/people.js";
import { measure, row, type Row } from "./harness.js";

const COUNT = 65_536;
const EVERY = 1000;
const PEOPLE = 1_000_000;
const times = Float64Array.from({ length: COUNT }, (_, i) => (i * 7919) % EVERY); // all in one tick
const values = Float64Array.from({ length: COUNT }, (_, i) => 1 + ((i * 7919) % 10_007));
const common = { epsilon: 1, every: EVERY, origin: 0, clock: () => 0, unsafeSeed: "events" };

export async function* rows(): AsyncGenerator<Row> {
  yield await adding();
  yield await addingToBuckets();
  yield* await addingForPeople();
  for (const buckets of [64, 1024]) yield await blockEnd(buckets);
}

/** The same events, put into a tick by hand. */
function bare(): number {
  const rows = new Map([[0, new Float64Array(1)]]);
  for (let i = 0; i < COUNT; i++) {
    const tick = Math.floor(times[i]! / EVERY);
    if (Number.isFinite(values[i]) && tick >= 0) rows.get(tick)![0]! += 1;
  }
  return rows.get(0)![0]!;
}

function adding(): Promise<Row> {
  const counter = privateCounter(common);
  return measure({
    path: "events",
    case: `${COUNT} events counted, in the middle of a tick (limit: bare arithmetic)`,
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
    case: `${COUNT} events into 64 buckets, in the middle of a tick (limit: bare arithmetic of a count)`,
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
  const counter = privateCounter({ ...common, perPerson: { events: 60_000, every: "1d" } });
  const plain = new Map<string, number>();
  const people = new People(new Uint32Array(4), { events: 5, every: 86_400_000, people: 16 });
  for (let i = 0; i < PEOPLE; i++) {
    const person = idOf(i);
    counter.add({ at: 0, person });
    plain.set(person, 1);
    people.admit(person, 0);
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

/** Blocks of one tick: every `advance` estimates all buckets. */
function blockEnd(buckets: number): Promise<Row> {
  const closing = (core: "wasm" | "js") => {
    const histogram = privateHistogram({
      ...common,
      edges: { min: 1, max: 60_000, buckets },
      maxRange: EVERY * 4096,
      tuning: { skipLevels: 0 },
      core,
    });
    let now = 0;
    return () => {
      for (let i = 0; i < 16; i++) histogram.advance((now += EVERY));
    };
  };
  return measure({
    path: "events",
    case: `16 blocks of a histogram with ${buckets} buckets end, noise included`,
    wasm: closing("wasm"),
    js: closing("js"),
  });
}
