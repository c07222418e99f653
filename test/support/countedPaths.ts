/** The durable paths that "counted once" drives: streams and hubs, of values and of events, runs of the CLI, and Kafka. */
import {
  type DurableStream,
  type Hub,
  openHub,
  openStream,
  privateStream,
  type StreamOptions,
} from "../../src/index.js";
import { releaseState } from "./countedCli.js";
import { kafkaWorkers } from "./countedKafka.js";
import type { Path, Place, Writer } from "./countedOnce.js";

const KEY = new Uint8Array(32).fill(7);

const VALUES = {
  ...{ epsilon: 4, max: 64, maxRange: 16, history: Infinity, unsafeSeed: "counted" },
  tuning: { fanout: 4, skipLevels: 0, resolution: 1 },
} as const satisfies StreamOptions;
const PUBLIC = { ...VALUES, threshold: 64, holdout: 0 } as const;
const MOST_POSITIONS = 256;

/** Noise of each position under a seed: what zeros are published as. It is the same whatever the values are. */
function noiseOf(unsafeSeed: string): readonly number[] {
  const stream = privateStream({ ...PUBLIC, unsafeSeed });
  stream.pushMany(new Float64Array(MOST_POSITIONS));
  return Array.from({ length: MOST_POSITIONS }, (_, i) => stream.range(i, i + 1, { answer: "blocks" }).sum);
}

/** Items are values, each at a position of its own: item i has the value i + 1. @param seeds by the name of a stream */
function itemsIn(seeds: Readonly<Record<string, string>>) {
  const noises = new Map<string, readonly number[]>();
  return (published: ReadonlyMap<string, number>): Map<number, number> => {
    const counted = new Map<number, number>();
    for (const [place, number] of published) {
      const [name, position] = place.split(", ");
      const noise = noises.get(name!) ?? noiseOf(seeds[name!]!);
      noises.set(name!, noise);
      const item = Math.round(number - noise[Number(position)]!) - 1;
      counted.set(item, (counted.get(item) ?? 0) + 1);
    }
    return counted;
  };
}

const valuesOf = (items: readonly number[]): Float64Array => Float64Array.from(items, (item) => item + 1);

/** Opens what is needed, and again after a failure that ended it. */
class Reopened<T extends { readonly ended: boolean }> {
  readonly #open: () => Promise<T>;
  #opened: Promise<T> | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  async get(): Promise<T> {
    const opening = (this.#opened ??= this.#open());
    const opened = await opening.catch((error: unknown) => {
      if (this.#opened === opening) this.#opened = undefined;
      throw error;
    });
    if (!opened.ended) return opened;
    if (this.#opened === opening) this.#opened = undefined;
    return this.get();
  }

  async use<R>(act: (opened: T) => Promise<R>): Promise<R> {
    return act(await this.get());
  }
}

async function readPositions(
  name: string,
  length: number,
  numberAt: (position: number) => Promise<number>,
): Promise<Map<string, number>> {
  const published = new Map<string, number>();
  for (let i = 0; i < length; i++) published.set(`${name}, ${i}`, await numberAt(i));
  return published;
}

export const streamOfValues: Path = {
  name: "stream of values",
  ...{ items: 40, writers: 4, heldOut: 0, releases: ["s"] },
  open({ store, odometer }) {
    const stream = new Reopened<DurableStream>(() =>
      openStream({ ...PUBLIC, name: "s", store, key: KEY, budget: { odometer, data: "all" } }),
    );
    return {
      send: (items) => stream.use(async (open) => void (await open.pushMany(valuesOf(items)))),
      read: () =>
        stream.use((open) =>
          readPositions(
            "s",
            open.length,
            async (i) => (await open.range(i, i + 1, { answer: "blocks" })).sum,
          ),
        ),
      publish: () => Promise.resolve(),
      close: () => stream.use((open) => open.close()),
    };
  },
  counted: itemsIn({ s: "counted" }),
};

function hubWriter(hub: Hub, names: readonly string[]): Writer {
  return {
    // All items of a call go to one stream: a call is accepted as a whole.
    send: async (items) => void (await hub.pushMany(names[items[0]! % names.length]!, valuesOf(items))),
    async read() {
      const published = new Map<string, number>();
      for (const name of names) {
        const { length } = await hub.progress(name);
        const positions = await readPositions(
          name,
          length,
          async (i) => (await hub.range(name, i, i + 1, { answer: "blocks" })).sum,
        );
        for (const [place, number] of positions) published.set(place, number);
      }
      return published;
    },
    publish: () => Promise.resolve(),
    close: () => hub.close(),
  };
}

export const hubOfValues: Path = {
  name: "hub of values",
  ...{ items: 40, writers: 4, heldOut: 0, releases: ["hub"] },
  open: ({ store, odometer }) =>
    hubWriter(
      openHub({ ...PUBLIC, store, key: KEY, commitEvery: 0, budget: { odometer, data: "all", name: "hub" } }),
      ["a", "b"],
    ),
  counted: itemsIn({ a: "counted/a", b: "counted/b" }),
};

/** The first 16 values of all streams choose θ together. Values above it are all alike: they are only counted. */
export const hubWithSharedThreshold: Path = {
  name: "hub of values, shared θ",
  ...{ items: 40, writers: 2, heldOut: 16, alike: true, releases: ["hub"] },
  open: ({ store, odometer }) =>
    hubWriter(
      openHub({
        ...{ ...VALUES, holdout: 16, threshold: "shared", store, key: KEY, commitEvery: 0 },
        budget: { odometer, data: "all", name: "hub" },
      }),
      ["a"],
    ),
  counted: (published) => new Map([...published.keys()].map((_, i) => [i, 1])),
};

// Items of events have a bucket of a histogram each.

const BUCKETS = 40;
/** Noise of scale 2·2/1000 is 0 but for odds of 2·e⁻²⁵⁰ a node. */
const EVENTS = {
  ...{ epsilon: 1000, every: "1h", levels: ["1h", "1d"], unsafeSeed: "counted" },
  edges: Array.from({ length: BUCKETS }, (_, i) => i + 0.5),
} as const;
const START = Date.UTC(2026, 5, 1);
const END = START + 5 * 86_400_000;

interface Answer {
  readonly from: number;
  readonly counts: readonly number[] | null;
  readonly complete: boolean;
}

/** One place for each bucket of each period that is published. */
function bucketsOf(key: string, answers: readonly Answer[]): Map<string, number> {
  const published = new Map<string, number>();
  for (const { from, counts, complete } of answers)
    if (complete) counts?.forEach((count, item) => published.set(`${key}, ${from}, ${item}`, count));
  return published;
}

/** How often each bucket was hit in all periods and keys. */
function bucketTotals(published: ReadonlyMap<string, number>): Map<number, number> {
  const counted = new Map<number, number>();
  for (const [place, number] of published) {
    const item = Number(place.split(", ")[2]);
    if (Math.round(number) !== 0) counted.set(item, (counted.get(item) ?? 0) + Math.round(number));
  }
  return counted;
}

export const streamOfEvents: Path = {
  name: "stream of events",
  ...{ items: BUCKETS, writers: 4, heldOut: 0, misses: true, releases: ["e"] },
  open({ store, odometer, clock }) {
    const open = () =>
      openStream({
        ...{ ...EVENTS, name: "e", store, key: KEY, clock },
        budget: { odometer, data: "all", perUnit: 1 },
      });
    const stream = new Reopened<Awaited<ReturnType<typeof open>>>(open);
    return {
      // Events that are added together are stored together.
      send: (items) =>
        stream.use(async (opened) => {
          const sent = await Promise.allSettled(items.map((item) => opened.add(item)));
          for (const one of sent) if (one.status === "rejected") throw one.reason;
        }),
      read: () =>
        stream.use(async (opened) => bucketsOf("e", (await opened.series("1h", START, END)).answers)),
      publish: () => stream.use(async (opened) => void (await opened.advance())),
      close: () => stream.use((opened) => opened.close()),
    };
  },
  counted: bucketTotals,
};

const KEYS = ["a", "b"];

export const hubOfEvents: Path = {
  name: "hub of events",
  ...{ items: BUCKETS, writers: 4, heldOut: 0, reads: 0.005, releases: ["events/m"] },
  open({ store, odometer, clock }: Place) {
    const hub = openHub({
      metrics: { m: { ...EVENTS, keys: KEYS } },
      ...{ store, key: KEY, commitEvery: 0, clock, confirmClock: true },
      budget: { odometer, data: "all", perUnit: 1 },
    });
    return {
      send: (items) =>
        hub.addMany(
          "m",
          items.map((item) => ({ key: KEYS[item % KEYS.length]!, value: item })),
        ),
      async read() {
        const published = new Map<string, number>();
        for (const key of KEYS) {
          const { answers } = await hub.series("m", key, "1h", START, END);
          for (const [place, number] of bucketsOf(key, answers)) published.set(place, number);
        }
        return published;
      },
      publish: async () => void (await hub.advance()),
      close: () => hub.close(),
    };
  },
  counted: bucketTotals,
};

/** Half of the items have a key that nobody listed: they count with all others until votes make it public. */
export const hubOfVotes: Path = {
  name: "hub whose keys are found",
  ...{ items: BUCKETS, writers: 4, heldOut: 0, reads: 0.005, releases: ["events/m"] },
  open({ store, odometer, clock }: Place) {
    const metric = {
      ...{ ...EVENTS, perPerson: { events: 1, people: 8 } },
      keys: { listed: ["a"], discover: { delta: 1e-3 } },
    };
    const hub = openHub({
      ...{ metrics: { m: metric }, store, key: KEY, commitEvery: 0, clock, confirmClock: true },
      budget: { odometer, data: "all", perUnit: 1 },
    });
    let people = 0;
    return {
      send: (items) =>
        hub.addMany(
          "m",
          items.map((item) => ({
            ...{ key: KEYS[item % KEYS.length]!, value: item, person: `${item} ${people++}` },
          })),
        ),
      async read() {
        const published = new Map<string, number>();
        for (const key of ["a", "b", "(other)"]) {
          if (!(await hub.keys("m")).includes(key)) continue;
          const { answers } = await hub.series("m", key, "1h", START, END);
          for (const [place, number] of bucketsOf(key, answers)) published.set(place, number);
        }
        return published;
      },
      publish: async () => void (await hub.advance()),
      close: () => hub.close(),
    };
  },
  counted: bucketTotals,
};

/** Paths that any store can carry. */
export const STORED: readonly Path[] = [
  streamOfValues,
  hubOfValues,
  hubWithSharedThreshold,
  streamOfEvents,
  hubOfEvents,
  hubOfVotes,
];

export const PATHS: readonly Path[] = [...STORED, releaseState(), kafkaWorkers()];
