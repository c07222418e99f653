/** Aggregators in a store, of days and of the paper's two phases: a restart keeps reports and θ, nothing is told before it is stored. */
import { describe, expect, test } from "vitest";
import type { DurableAggregator } from "../../src/durable/durableAggregator.js";
import type { DurablePaperAggregator } from "../../src/durable/durablePaperAggregator.js";
import { openAggregator } from "../../src/durable/openAggregator.js";
import { openOdometer } from "../../src/durable/budget/odometer.js";
import { fileStore } from "../../src/durable/stores/file.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { aggregator, reporter, type Store } from "../../src/index.js";
import type { Aggregator } from "../../src/local/aggregator.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { reportsOf, skewed } from "../support/localValues.js";
import { failing, key, plainStore, temporaryFolders } from "./support.js";

const folder = temporaryFolders();
const DAY = 86_400_000;
const time = { now: DAY / 2 };

/** Methods of both kinds of aggregator: synchronous in memory, promises in a store. */
interface InMemory {
  tally(): Uint8Array;
  merge(other: Uint8Array): void;
}
interface InStore {
  readonly sequence: number;
  readonly rejected: unknown;
  tally(): Promise<Uint8Array>;
  merge(other: Uint8Array): Promise<void>;
  statement(): Promise<{ readonly threshold: number | null }>;
  close(): Promise<void>;
}
interface Where {
  readonly name: string;
  readonly store: Store;
}

interface Kind<P extends InMemory, D extends InStore> {
  readonly make: () => P;
  readonly open: (where: Where, more?: object) => Promise<D>;
  /** Calls that bring data, in order; the first two may go to two workers. The last but one has chosen θ. */
  readonly calls: readonly ((server: P | D) => unknown)[];
  readonly chooses: (server: P | D) => unknown;
  /** θ before it is chosen. */
  readonly start: number | null;
  readonly answers: readonly ((server: P | D) => unknown)[];
  readonly mergeOpened: (leader: D, worker: D) => Promise<void>;
  readonly epsilon: number;
  /** Options that a state refuses, or that there are not. */
  readonly refused: readonly (readonly [object, RegExp])[];
}

const OF_DAYS = { epsilon: 2, max: 1000, clock: () => time.now };
const day = (seed: string, threshold = 1000) =>
  reporter({ epsilon: 2, max: 1000, threshold, unsafeSeed: seed }).reportMany(skewed(500, seed));
const days: Kind<Aggregator, DurableAggregator> = {
  make: () => aggregator(OF_DAYS),
  open: (where, more) => openAggregator({ ...OF_DAYS, key, ...where, ...more }),
  calls: [
    (server) => server.add(day("one"), DAY / 2),
    (server) => server.add(day("two"), DAY / 2),
    (server) => server.terms(),
    async (server) => server.add(day("three", (await server.terms()).threshold)),
  ],
  chooses: (server) => server.terms(),
  start: 1000,
  answers: [
    (server) => server.reports,
    (server) => server.between(0, 2 * DAY),
    (server) => server.last("1d"),
    (server) => server.series("1d", 0, 2 * DAY),
    (server) => server.quantile(0.9),
    (server) => server.cdf(30),
    (server) => server.histogram(),
    (server) => server.statement(),
    (server) => server.explain(),
    (server) => server.tally(),
  ],
  mergeOpened: (leader, worker) => leader.merge(worker),
  epsilon: 2,
  refused: [
    [{ zone: "Europe/Berlin" }, /^snapshot: expected one made with zone/],
    [{ holdout: 1 }, /holdout: expected none; reports count from the first/],
  ],
};

const OF_PAPER = { variant: "paper" as const, epsilon: 1, max: 1000, holdout: 3000, maxRange: 2 ** 14 };
const learn = reportsOf(skewed(3000, "durable"), "durable learn");
const release = async (server: PaperAggregator | DurablePaperAggregator) =>
  server.release(reportsOf(skewed(4000, "more"), "release", { threshold: await server.threshold() }));
const paper: Kind<PaperAggregator, DurablePaperAggregator> = {
  make: () => new PaperAggregator(OF_PAPER),
  open: (where, more) => openAggregator({ ...OF_PAPER, key, ...where, ...more }),
  calls: [
    (server) => server.learn(learn.subarray(0, 8000)),
    (server) => server.learn(learn.subarray(8000)),
    (server) => server.threshold(),
    release,
  ],
  chooses: (server) => server.threshold(),
  start: null,
  answers: [
    (server) => [server.learned, server.length, server.released],
    (server) => server.range(100, 3900),
    (server) => server.total(),
    (server) => server.distribution(),
    (server) => server.quantile(0.9),
    (server) => server.cdf(30),
    (server) => server.statement(),
    (server) => server.explain(),
  ],
  mergeOpened: (leader, worker) => leader.merge(worker),
  epsilon: 1,
  refused: [],
};

function suite<P extends InMemory, D extends InStore>(kind: Kind<P, D>): void {
  const { make, open, calls, chooses } = kind;

  test("a process that is killed keeps every report that was acknowledged, and θ", async () => {
    time.now = 1.5 * DAY;
    const plain = make();
    const store = fileStore(folder());
    let atLeast = 0;
    for (const call of calls) {
      const opened = await open({ name: "devices", store }, { atLeast });
      expect(await call(opened)).toEqual(await call(plain));
      atLeast = opened.sequence; // killed here and after every step: nothing is closed
    }
    const last = await open({ name: "devices", store }, { atLeast });
    for (const answer of kind.answers) expect(await answer(last)).toEqual(await answer(plain));
    await last.close();
    await expect(Promise.resolve(calls[0]!(last))).rejects.toThrow("expected an open stream");
  });

  test("workers combine, with one name each", async () => {
    time.now = 1.5 * DAY;
    const store = memoryStore();
    const [one, two, leader] = [
      await open({ name: "a", store }),
      await open({ name: "b", store }),
      await open({ name: "leader", store }),
    ];
    await calls[0]!(one);
    await calls[1]!(two);
    await kind.mergeOpened(leader, one);
    await leader.merge(await two.tally());
    const plain = make();
    for (const call of calls.slice(0, 2)) await call(plain);
    expect(await leader.tally()).toEqual(plain.tally());
    expect(await chooses(leader)).toEqual(await chooses(plain));
  });

  test("θ is told after it is stored: a store that fails tells nothing", async () => {
    time.now = 1.5 * DAY;
    const inner = plainStore();
    const before = await open({ name: "x", store: inner });
    for (const call of calls.slice(0, 2)) await call(before);
    let broken = false;
    const server = await open({ name: "x", store: failing(inner, { fails: () => broken, after: false }) });
    broken = true;
    await expect(Promise.resolve(chooses(server))).rejects.toThrow(/its state could not be stored/);
    broken = false;
    const again = await open({ name: "x", store: inner });
    expect((await again.statement()).threshold).toBe(kind.start);
    await chooses(again);
    expect((await again.statement()).threshold).toBeLessThan(1000);
  });

  test("two of one name: the one that another took over from is refused, and the state has every report once", async () => {
    time.now = 1.5 * DAY;
    const store = plainStore();
    const first = await open({ name: "x", store });
    await calls[0]!(first);
    const second = await open({ name: "x", store });
    await calls[1]!(second);
    const taken = await Promise.resolve(calls[1]!(first)).then(() => "taken", String);
    expect(taken).toMatch(/conflict|another process|state/);
    const plain = make();
    for (const call of calls.slice(0, 2)) await call(plain);
    expect(await (await open({ name: "x", store })).tally()).toEqual(plain.tally());
  });

  test("other parameters, another key and a rolled-back store are refused; an odometer is charged once", async () => {
    time.now = 1.5 * DAY;
    const store = plainStore();
    const odometer = await openOdometer({
      ...{ name: "odometer", store: memoryStore(), key, limit: 3, unit: "one value, reported once" },
    });
    const budget = { odometer, data: "devices" };
    const openAgain = (more = {}) => open({ name: "x", store }, { budget, ...more });
    await calls[0]!(await openAgain());
    await openAgain();
    expect(odometer.statement().data).toMatchObject([{ spent: kind.epsilon }]);
    const refused = [
      [{ max: 999 }, /^snapshot: expected one made with max = "999", got "1000"/],
      [{ key: new Uint8Array(32) }, /^snapshot: cannot decrypt it/],
      [{ atLeast: 9 }, /the store was rolled back/],
      [{ sauce: 1 }, /unknown option "sauce"/],
      ...kind.refused,
    ] as const;
    for (const [more, message] of refused) await expect(openAgain(more)).rejects.toThrow(message);
  });
}

describe("of days", () => suite(days));

describe("of the paper's two phases", () => {
  suite(paper);

  test("the length of a snapshot follows from the numbers of reports alone", async () => {
    const lengths = async (seed: string) => {
      const store = plainStore();
      const server = await paper.open({ name: "x", store }, { threshold: 62.5 });
      await server.learn(reportsOf(skewed(500, seed), seed));
      await server.release(reportsOf(skewed(300, seed), seed, { threshold: 62.5 }));
      return store.snapshots.get("x")!.bytes.length;
    };
    expect(await lengths("one")).toBe(await lengths("another"));
  });

  test("tallies that add up to more than can be stored are refused, and the state opens again", async () => {
    const store = plainStore();
    const open = () => paper.open({ name: "devices", store });
    const devices = await open();
    await devices.learn(learn.subarray(0, 800));
    for (const place of [1, 7, 1024, 1025, 1030]) {
      const huge = new PaperAggregator(OF_PAPER).tally(); // bytes from a worker that lies: learned, in a bin or rejected
      new DataView(huge.buffer).setFloat64(6 + 8 * place, Number.MAX_SAFE_INTEGER, true);
      const merged = await devices
        .merge(huge)
        .then(() => devices.merge(huge))
        .catch(String);
      expect(merged).toBe("RangeError: merge: expected fewer than 2^53 reports in all, got a tally of more");
    }
    expect((await open()).rejected).toEqual(devices.rejected);
    expect((await open()).learned).toBe(devices.learned);
  });
});
