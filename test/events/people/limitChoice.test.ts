/** k chosen privately: by hand, by its exact law on few people, over restarts and cores, and where it cannot be. */
import { describe, expect, test } from "vitest";
import { compare, MODELS } from "../../../research/limit/chosen.js";
import { dayError } from "../../../src/events/holdout.js";
import { LIMIT_BETA, limitChoice } from "../../../src/events/people/limitChoice.js";
import { resolveEvents } from "../../../src/events/options.js";
import { People } from "../../../src/events/people/people.js";
import {
  type Counter,
  openHub,
  plan,
  privateCounter,
  privateHistogram,
  privateStream,
  restore,
} from "../../../src/index.js";
import { type Choice, cost } from "../../../src/stream/holdout/choice.js";
import { checkStatement } from "../../../src/cli/checkStatement.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 5, 1);
const KEY = new Uint8Array(32).fill(3);
const CHOOSE = { events: "choose", most: 100 } as const;

/** A day of 300 people: most have 3 events, a tenth has 20. */
function visit(counter: Counter, day: number): void {
  for (let person = 0; person < 300; person++)
    for (let i = person % 10 === 0 ? 20 : 3; i > 0; i--)
      counter.add({ at: day + (i % 24) * HOUR + person, person: `p${person}` });
}

/** A counter from noon on, which is told the time. */
function begin(more: { readonly core?: "wasm" | "js"; readonly epsilon?: number } = {}) {
  const time = { now: START + 12 * HOUR };
  const options = {
    of: "count",
    ...{ epsilon: 1, every: "1h", levels: ["1h", "1d"], perPerson: CHOOSE, skew: "2d" },
    ...{ unsafeSeed: "k", clock: () => time.now },
    ...more,
  } as const;
  const { of: _, ...counted } = options;
  return { time, options, counter: privateCounter(counted) };
}

describe("a counter", () => {
  test("holds out the first whole day, which chooses k; the days after it are counted up to k", () => {
    const { time, counter } = begin();
    expect(counter.statement()).toMatchObject({
      ...{ perPerson: { most: 100 }, epsilonPerEvent: null, noiseScale: null, periods: "own noise" },
      ...{ firstNumber: "2026-06-03T01:00:00.000Z", delta: 0 },
    });
    expect(counter.statement().perPerson).toEqual({ most: 100 });
    expect(counter.explain()).toContain(
      "k, at most 100, will be chosen privately from the people of the first whole day: its events have all of ε for that, and are not published.",
    );
    expect(counter.explain()).toContain("noise whose scale follows from k");
    // The rest of the first day takes no part, however busy it is.
    for (let i = 0; i < 90; i++) for (let p = 0; p < 99; p++) counter.add({ at: time.now, person: `p${p}` });
    visit(counter, START + DAY);
    time.now = START + 2 * DAY;
    expect(counter.advance()).toEqual([]);
    const statement = counter.statement();
    const k = statement.perPerson!.events!;
    expect(k).toBeGreaterThanOrEqual(19);
    expect(k).toBeLessThanOrEqual(27);
    expect(statement.epsilonPerEvent).toBeCloseTo(31 / 32 / k, 12);
    expect(statement.noiseScale).toBeCloseTo((2 * k * 32) / 31, 9);
    expect(checkStatement(statement).filter(({ holds, what }) => !holds && !what.includes("seed"))).toEqual(
      [],
    );
    expect(counter.explain()).toContain(`k = ${k} was chosen privately, at most 100, from the people`);
    visit(counter, START + 2 * DAY);
    for (let i = 0; i < 500; i++) counter.add({ at: START + 2 * DAY, person: "one who has many" });
    time.now = START + 3 * DAY;
    expect(counter.advance()).toHaveLength(24);
    const whole = counter.between(START + 2 * DAY, START + 3 * DAY);
    const counted = 270 * 3 + 30 * Math.min(20, k) + k;
    expect(Math.abs(whole.value! - counted)).toBeLessThan(6 * whole.standardError!);
    expect(counter.between(START, START + 2 * DAY)).toMatchObject({ value: null });
  });

  test("that begins at midnight needs that one day, and nobody in it makes k = 1", () => {
    let now = START;
    const counter = privateCounter({
      ...{ epsilon: 3, every: "1d", perPerson: CHOOSE, clock: () => now, unsafeSeed: "k" },
    });
    now += DAY;
    counter.advance();
    expect(counter.statement().perPerson!.events).toBe(1);
  });

  test.each(["wasm", "js"] as const)(
    "%s: a snapshot at any hour of the choice goes on to the same k and numbers",
    async (core) => {
      const run = async (snapshots: readonly number[]) => {
        const { time, options, counter } = begin({ core, epsilon: 20 });
        let own: Counter = counter;
        const closed: unknown[] = [];
        for (let hour = 12; hour < 80; hour++) {
          time.now = START + hour * HOUR;
          closed.push(...own.advance());
          if (snapshots.includes(hour)) own = await restore(await own.snapshot(KEY), KEY, options);
          for (let p = 0; p < 40; p++) own.add({ at: time.now, person: `p${p % (1 + (hour % 12))}` });
        }
        const { core: _, ...statement } = own.statement();
        return { closed, statement };
      };
      const plain = await run([]);
      expect(plain.statement.perPerson!.events).toBeGreaterThan(1);
      expect(await run([13, 24, 30, 47, 48, 49, 72])).toEqual(plain);
      if (core === "js") expect(plain).toEqual(await runOf("wasm"));
    },
  );

  /** Closed periods and statement of the run without restores, on a core. */
  async function runOf(core: "wasm" | "js") {
    const { time, counter } = begin({ core, epsilon: 20 });
    const closed: unknown[] = [];
    for (let hour = 12; hour < 80; hour++) {
      time.now = START + hour * HOUR;
      closed.push(...counter.advance());
      for (let p = 0; p < 40; p++) counter.add({ at: time.now, person: `p${p % (1 + (hour % 12))}` });
    }
    const { core: _, ...statement } = counter.statement();
    return Promise.resolve({ closed, statement });
  }

  test("a length of a snapshot does not tell how many events a person had", async () => {
    const lengthAfter = async (events: number) => {
      const { time, counter } = begin();
      time.now = START + DAY + HOUR;
      for (let i = 0; i < events; i++) counter.add({ at: time.now, person: "p" });
      return (await counter.snapshot(KEY)).length;
    };
    expect(await lengthAfter(70)).toBe(await lengthAfter(0));
  });
});

describe("sums with a public threshold, means and histograms", () => {
  const common = { epsilon: 3, every: "1d", perPerson: CHOOSE, unsafeSeed: "k", skew: "2d" } as const;
  const values = { max: 10, threshold: 10 };
  test.each([
    ["sum", (clock: () => number) => privateStream({ ...common, of: "sum", ...values, clock })],
    ["mean", (clock: () => number) => privateStream({ ...common, of: "mean", ...values, clock })],
    ["histogram", (clock: () => number) => privateHistogram({ ...common, edges: [1, 5, 9], clock })],
  ] as const)("%s", (of, make) => {
    let now = START;
    const stream = make(() => now);
    const day = (from: number): void => {
      for (let p = 0; p < 400; p++)
        for (let i = 0; i < 8; i++) stream.add(4, { at: from + i, person: `p${p}` });
    };
    day(START);
    now += HOUR;
    const early = stream.last("1d");
    expect("total" in early ? [early.total, early.counts] : early.value).toEqual(
      of === "histogram" ? [null, null] : null,
    );
    expect(early.next).toBe(START + 2 * DAY);
    expect(stream.series("1d", START, START + 2 * DAY).answers).toHaveLength(2);
    now += DAY - HOUR;
    stream.advance();
    const k = stream.statement().perPerson!.events!;
    expect(k).toBeGreaterThanOrEqual(8);
    expect(k).toBeLessThanOrEqual(13);
    expect(stream.statement().threshold).toBe(of === "histogram" ? null : 10);
    day(START + DAY);
    now += DAY;
    const [answer] = stream.advance();
    const { value, standardError } =
      "total" in answer! ? answer.total! : (answer as { value: number; standardError: number });
    const truth = of === "mean" ? 4 : of === "sum" ? 400 * 8 * 4 : 400 * 8;
    expect(Math.abs(value - truth)).toBeLessThan(6 * standardError);
  });
});

test("a hub has one k for all keys of a metric, and no numbers before it is chosen", async () => {
  let now = START;
  const common = { epsilon: 3, every: "1d", perPerson: CHOOSE, keys: ["a", "b"], unsafeSeed: "k" } as const;
  const [views, load] = [{ ...common, of: "count" } as const, { ...common, edges: [1, 2] }];
  const hub = openHub({ clock: () => now, metrics: { views, load } });
  const day = async () => {
    for (const key of ["a", "b"])
      await hub.addMany(
        "views",
        Array.from({ length: 1200 }, (_, i) => ({ key, person: `p${i % 300}` })),
      );
    now += DAY;
    return hub.advance();
  };
  const before = await hub.last("load", "a", "1d", { quantiles: [0.5] });
  expect(before).toMatchObject({ total: null, counts: null, quantiles: [{ p: 0.5, value: null }] });
  expect(await day()).toEqual([]);
  const { perPerson } = await hub.statement("views", "a");
  expect(perPerson!.events).toBeGreaterThanOrEqual(8); // four events under each of two keys
  expect(perPerson!.events).toBeLessThanOrEqual(13);
  expect(await day()).toHaveLength(2); // of both metrics
  const { value, standardError } = await hub.last("views", "b", "1d");
  expect(Math.abs(value! - 1200)).toBeLessThan(6 * standardError!);
});

describe("the exact law on few people", () => {
  const settings = resolveEvents({
    ...{ of: "count", epsilon: 1, every: "1d", perPerson: { events: "choose", most: 4 } },
  });
  const choice: Choice = limitChoice(settings);
  const LIMIT = { events: undefined, perHour: undefined, sum: undefined, people: 8 };
  const perUnit = 1 / choice.countWeight; // ε in units of the grid of scores
  const RANGE = 40 * choice.countWeight;

  /** c(k) by the library's own table of people. */
  function aboveOf(events: readonly number[]): Float64Array {
    const people = new People(Uint32Array.of(1, 2, 3, 4), LIMIT, 4);
    events.forEach((count, p) => {
      for (let i = 0; i < count; i++) people.admit(Uint32Array.of(p + 1, 5, 6, 7), 0, 0, 1);
    });
    const bins = people.bins(0, choice.candidates);
    return choice.candidates.map((_, k) => bins.subarray(k + 1).reduce((sum, count) => sum + count, 0));
  }

  /** P(each candidate wins) if N ≥ 0 with P(N = n) ∝ e^(−n·perUnit) is added to every score; ties to the first. */
  function law(costs: readonly number[]): number[] {
    const tail = (n: number): number => (n <= 0 ? 1 : Math.exp(-n * perUnit)); // P(N ≥ n)
    const least = Math.min(...costs);
    return costs.map((own, i) => {
      let odds = 0;
      for (let n = 0; n < RANGE; n++) {
        let p = tail(n) - tail(n + 1);
        const score = n - (own - least);
        for (let j = 0; j < costs.length && p > 0; j++)
          if (j !== i) p *= 1 - tail(score + (costs[j]! - least) + (j < i ? 0 : 1));
        odds += p;
      }
      return odds;
    });
  }

  /** The worst |ln ratio| over all groups of at most three people and one more person. */
  function worst(costsOf: (events: readonly number[]) => number[]): number {
    const groups: number[][] = [[]];
    for (const group of groups)
      if (group.length < 3) for (let x = group.at(-1) ?? 1; x <= 4; x++) groups.push([...group, x]);
    const laws = new Map<string, number[]>();
    const lawOf = (events: readonly number[]): number[] => {
      const name = [...events].sort().join();
      let found = laws.get(name);
      if (found === undefined) laws.set(name, (found = law(costsOf(events))));
      return found;
    };
    let most = 0;
    for (const group of groups.filter(({ length }) => length < 3))
      for (let x = 1; x <= 4; x++)
        lawOf(group).forEach((p, i) => {
          most = Math.max(most, Math.abs(Math.log(p / lawOf([...group, x])[i]!)));
        });
    return most;
  }

  const scores = (events: readonly number[], above = aboveOf(events)): number[] =>
    Array.from(choice.candidates, (k, i) => cost(choice, above[i]!, k, LIMIT_BETA, 0));

  test("one person and day moves no probability by more than e^ε, and nearly by it", () => {
    expect([...choice.candidates]).toEqual([1, 2, 3, 4]);
    expect([...aboveOf([1, 2, 4, 9])]).toEqual([3, 2, 2, 0]);
    // Without the hinge every person counts: the exact law comes near ε.
    const bare = { ...choice, hinge: 0 };
    const of = (own: Choice) => (events: readonly number[]) =>
      Array.from(own.candidates, (k, i) => cost(own, aboveOf(events)[i]!, k, LIMIT_BETA, 0));
    expect(worst(scores)).toBeLessThanOrEqual(1 + 1e-9);
    const largest = worst(of(bare));
    expect(largest).toBeLessThanOrEqual(1 + 1e-9);
    expect(largest).toBeGreaterThan(0.9);
  });

  test("the events that k drops, in the place of people, would not be private", () => {
    const dropped = (events: readonly number[]): number[] =>
      scores(
        events,
        Float64Array.from(choice.candidates, (k) => events.reduce((sum, x) => sum + Math.max(0, x - k), 0)),
      );
    expect(worst(dropped)).toBeGreaterThan(1.5);
  });
});

test("the error of a day's total is at most 1.3 times that of the best k, on the models of the study", () => {
  for (const model of Object.values(MODELS))
    for (const people of [500, 10_000]) {
      const { chosen, bestError, quarter } = compare(1, people, model);
      expect(chosen / bestError).toBeLessThan(1.3);
      expect(quarter / bestError).toBeGreaterThan(1.35);
    }
});

test("the plan is told per k, and that a whole day passes first", () => {
  const own = { of: "count", epsilon: 1, every: "1h", levels: ["1h", "1d"] } as const;
  const chosen = plan({ ...own, perPerson: CHOOSE });
  expect(chosen).toMatchObject({ errorsOf: "k · events", firstNumberAfter: "50h" });
  const day = chosen.errors.find(({ period }) => period === "1d")!;
  const settings = resolveEvents({ ...own, perPerson: CHOOSE });
  expect(day.standardError).toBeCloseTo((dayError(settings) * 32) / 31, 9);
  const hundred = plan({ ...own, perPerson: 100 }).errors.find(({ period }) => period === "1d")!;
  expect(hundred.standardError / 100 / day.standardError).toBeCloseTo(1, 3);
});

test.each<[string, () => unknown, RegExp]>([
  [
    "a θ that is chosen",
    () => privateStream({ of: "sum", epsilon: 1, every: "1h", max: 9, perPerson: CHOOSE }),
    /perPerson.events: expected a number beside a θ that is chosen, got "choose"; give a public threshold/,
  ],
  [
    "keys that are discovered",
    () =>
      openHub({
        metrics: {
          m: {
            ...{ of: "count", epsilon: 1, every: "1h", perPerson: CHOOSE },
            keys: { discover: { delta: 1e-9 } },
          },
        },
      }),
    /discover: expected a number as perPerson.events beside it, got "choose"; a day that chooses k has no ε left/,
  ],
  [
    "a finished file",
    () => resolveEvents({ of: "count", epsilon: 1, every: "1h", perPerson: CHOOSE }, true),
    /perPerson.events: expected a number for a finished file, got "choose"/,
  ],
  [
    "most without it",
    () => privateCounter({ epsilon: 1, every: "1h", perPerson: { events: 3, most: 9 } }),
    /perPerson.most: expected with events: "choose" alone/,
  ],
  [
    "too large a most",
    () => privateCounter({ epsilon: 1, every: "1h", perPerson: { events: "choose", most: 1e6 } }),
    /perPerson.most: expected a whole number from 1 to 65535, got 1000000/,
  ],
  [
    "noise that is too large for the largest k",
    () =>
      privateStream({
        ...{ of: "sum", epsilon: 1e-9, every: "1h", max: 256, threshold: 256, perPerson: CHOOSE },
      }),
    /epsilon: expected at least 0.0000123, so that sums with noise stay exact, got 1e-9; or lower θ/,
  ],
  [
    "another word",
    () => privateCounter({ epsilon: 1, every: "1h", perPerson: { events: "auto" as "choose" } }),
    /perPerson.events: expected a whole number/,
  ],
])("refused: %s", (_, make, message) => {
  expect(make).toThrow(message);
});
