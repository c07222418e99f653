/** One thousandth of the long run of the recorder of sensitivity (`npm run fuzz -- --recorder`), and the faults it must find. */
import { expect, test } from "vitest";
import { Dice } from "../../scripts/fuzz/dice.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";
import type { EventStreamOptions } from "../../src/index.js";
import type { Plant } from "../support/recorder.js";
import {
  checkConfiguration,
  checkEvents,
  checkValues,
  type EventCase,
  randomEventCase,
  randomValueCase,
  type Step,
  type ValueCase,
} from "../support/recorderCases.js";
import { checkHub, checkReports } from "../support/recorderHubs.js";

const SEED = 20261118;
const CONFIGURATIONS = 1000;

test(`seed ${SEED}, ${CONFIGURATIONS} configurations: neighbours differ by no more than ε, draws are equal, no index is used twice`, async () => {
  const driven = new Map<string, number>();
  let most = 0;
  for (let number = 0; number < CONFIGURATIONS; number++) {
    const { kinds, faults, share } = await checkConfiguration(SEED, number);
    expect(faults, `configuration ${number}`).toEqual([]);
    for (const kind of kinds) driven.set(kind, (driven.get(kind) ?? 0) + 1);
    most = Math.max(most, share);
  }
  expect(most).toBe(1); // neighbours as far away as can be spend all of ε
  for (const kind of DRIVEN) expect(driven.get(kind) ?? 0, kind).toBeGreaterThan(0);
});

/** Kinds of streams that the configurations must cover. */
const DRIVEN = [
  ...[
    "values, θ public",
    "values, θ by noisy max",
    "values, θ chosen",
    "values, θ follows",
    "values, θ refined",
    "values, below zero",
  ],
  ...["values, probe", "values, restored", "events: count", "events: count, people", "events: sum"],
  ...["events: sum, people", "events: sum, people's sums", "events: mean, people", "events: histogram"],
  ...[
    "events: histogram, people",
    "events, θ chosen",
    "events, k chosen",
    "events, groups of buckets",
    "events, restored",
  ],
  ...["hub of events", "hub opened with other keys", "hub opened with other settings", "hub killed"],
  ...["service rows", "odometer", "finished file", "finished file, θ chosen"],
  ...["events: different people, 1d", "events: different people, 1w", "events: different people, 1mo"],
];

const HUBS = 48;

test(`seed ${SEED}, ${HUBS} hubs of all measures, and reports of all mechanisms: no more than ε, and no index is used twice`, async () => {
  const driven = new Set<string>();
  for (let number = 0; number < HUBS; number++)
    for (const check of [checkHub, checkReports]) {
      const { kinds, faults } = await check(new Dice(SEED, number));
      expect(faults, `${check.name} ${number}`).toEqual([]);
      for (const kind of kinds) driven.add(kind);
    }
  for (const of of Object.keys(FAR)) expect(driven).toContain(`hub: ${of}`);
  expect(driven).toContain("hub: θ was chosen");
  expect(driven).toContain("hub: k was chosen");
  expect(driven).toContain("hub of different people");
  expect(driven).toContain("hub: votes");
  expect(driven).toContain("hub: keys were found");
  for (const of of ["window", "squareWave", "stochasticRounding", "piecewise", "hybrid"])
    expect(driven).toContain(`local reports: ${of}`);
});

/** A hub of each measure whose neighbours are more than half of ε apart. The events of hub 68 are all held out. */
const FAR = { count: 0, histogram: 24, sum: 80, mean: 110, "sum, θ chosen": 68, "mean, θ chosen": 73 };

test.each(Object.entries(FAR))(
  "planted in a hub, %s: half the noise, and events added twice",
  async (of, i) => {
    const found = async (plant?: Plant) =>
      (await checkHub(new Dice(SEED, i), plant && { plant })).faults.join();
    expect((await checkHub(new Dice(SEED, i))).kinds).toContain(`hub: ${of}`);
    expect(await found()).toBe("");
    expect(await found({ scale: (scale) => times(scale, 1n, 2n) })).toContain("ε spent");
    if (i !== 68) expect(await found({ addTwice: true })).toContain("ε spent");
  },
);

/** A hub whose keys people vote for, and whose neighbours spend all of ε. */
const VOTES = 66;

test("planted in a hub with votes: half the noise, every vote twice, and one noise that is tested again and again", async () => {
  const found = async (plant?: Plant) =>
    (await checkHub(new Dice(SEED, VOTES), plant && { plant })).faults.join();
  expect((await checkHub(new Dice(SEED, VOTES))).kinds).toContain("hub: votes");
  expect(await found()).toBe("");
  expect(await found({ scale: (scale) => times(scale, 1n, 2n) })).toContain("ε spent");
  expect(await found({ voteTwice: true })).toContain("ε spent");
  expect(await found({ testOften: true })).toContain("index used twice");
});

/** A hub that chooses k, and whose neighbours spend all of ε on it. */
const LIMIT = 38;

test("planted in a hub that chooses k: half the noise, and people counted twice", async () => {
  const found = async (plant?: Plant) =>
    (await checkHub(new Dice(SEED, LIMIT), plant && { plant })).faults.join();
  expect((await checkHub(new Dice(SEED, LIMIT))).kinds).toContain("hub: k was chosen");
  expect(await found()).toBe("");
  expect(await found({ scale: (scale) => times(scale, 1n, 2n) })).toContain("ε spent");
  expect(await found({ chooseTwice: true })).toContain("ε spent");
});

const times = ({ numerator, denominator }: Scale, up: bigint, down: bigint): Scale =>
  makeScale(numerator * up, denominator * down);

const START = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;

const event = (hour: number, neighbour: boolean): Step => ({
  do: "event",
  neighbour,
  event: { at: START + hour * HOUR + 1, value: 100 },
});

/** A sum on two levels; the neighbour has one event more. */
const events: EventCase = {
  options: {
    ...{ epsilon: 1, every: "1h", levels: ["1h", "1d"], of: "sum", max: 100, threshold: 100, skew: "2d" },
    ...{ resolution: 1, unsafeSeed: "recorder" },
  },
  start: START,
  steps: [event(1, false), event(1, true), event(26, false), { do: "advance", now: START + 50 * HOUR }],
  ...{ real: true, answers: true },
};

const valuesOf = (changed: number): Float64Array =>
  Float64Array.from({ length: 64 }, (_, i) => (i === 37 ? changed : i % 10));

const values: ValueCase = {
  options: {
    ...{ epsilon: 1, max: 100, maxRange: 64, threshold: 100, holdout: 0, unsafeSeed: "recorder" },
    tuning: { fanout: 4, skipLevels: 0, resolution: 1 },
  },
  values: valuesOf(0),
  neighbour: valuesOf(100),
  snapshots: new Set([10]),
  batch: 1,
  real: true,
};

const levels = 3;

test.each<[string, Plant, Plant]>([
  ["nothing", {}, {}],
  [
    "a level that is not counted",
    { scale: (t) => times(t, 1n, 2n) },
    { scale: (t) => times(t, BigInt(levels - 1), BigInt(levels)) },
  ],
  ["a value read twice", { addTwice: true }, { addTwice: true }],
  [
    "a scale from data",
    { scale: (t, largest) => (largest > 100 ? times(t, 2n, 1n) : t) },
    { scale: (t, largest) => (largest > 50 ? times(t, 2n, 1n) : t) },
  ],
  [
    "an index used twice",
    { nonce: ([stream, , rest]) => Uint32Array.of(stream!, 0, rest! & 0xff) },
    { nonce: ([stream, low, rest]) => Uint32Array.of(stream!, low!, rest! & 0xffff00ff) },
  ],
])("planted: %s", async (name, inEvents, inValues) => {
  const none = name === "nothing";
  // A value that is read twice is one that a neighbour has at two positions.
  const twice = values.neighbour.map((x, i) => (i === 50 ? 100 : x));
  const neighbour = inValues.addTwice === true ? twice : values.neighbour;
  const shown = [await checkEvents(events, inEvents), await checkValues({ ...values, neighbour }, inValues)];
  for (const { faults, share } of shown) {
    if (none) expect([faults, share]).toEqual([[], 1]);
    else expect(faults).not.toEqual([]);
  }
});

test("a finished file: θ, clipped, limited and the release spend ε together, and half the noise of any would be seen", async () => {
  const crowd = Array.from({ length: 300 }, (_, i) => ({
    ...{ do: "event" as const, neighbour: false },
    event: { at: START + (i % 20) * HOUR + 1, value: i % 40, person: `p${i}` },
  }));
  const own: EventCase = {
    ...events,
    options: {
      ...{ epsilon: 3, every: "1h", levels: ["1h", "1d"], of: "sum", max: 100, perPerson: 2 },
      ...{ resolution: 1, unsafeSeed: "recorder" },
    },
    steps: [
      ...crowd,
      // Three events of one person: two count.
      ...[1, 1, 2].map((hour): Step => {
        const { event: added, ...step } = event(hour, true) as Extract<Step, { do: "event" }>;
        return { ...step, event: { ...added, person: "x" } };
      }),
      { do: "advance", now: START + 50 * HOUR },
    ],
    ...{ real: false, finished: true },
  };
  const { kinds, faults, share } = await checkEvents(own);
  expect([kinds, faults]).toEqual([["finished file, θ chosen"], []]);
  expect(share).toBeGreaterThan(0.9);
  expect(share).toBeLessThanOrEqual(1);
  expect((await checkEvents(own, { scale: (t) => times(t, 1n, 2n) })).faults.join()).toContain("ε spent");
});

test("planted: a draw that is left out when nothing came", async () => {
  // The only event of its hour is the neighbour's.
  const { faults } = await checkEvents({ ...events, steps: events.steps.slice(1) }, { skipEmpty: true });
  expect(faults.join()).toMatch(/draws differ|in one run only/);
});

test("planted: a request that a client of the service sends again counts again", async () => {
  const faults: string[] = [];
  for (let i = 0; i < 10; i++)
    faults.push(...(await checkHub(new Dice(SEED, i), { forgetful: true })).faults);
  expect(faults.join()).toContain("ε spent");
});

test("a person whose day begins in the hold-out and is published spends no more than ε", async () => {
  const of = (hour: number, person: string, neighbour: boolean): Step => ({
    do: "event",
    neighbour,
    event: { at: START + hour * HOUR + 1, value: 100, person },
  });
  const crowd = Array.from({ length: 200 }, (_, i) => of(2, `p${i}`, false));
  const { threshold, ...options } = {
    ...(events.options as { threshold: number }),
    perPerson: { events: 2 },
  };
  expect(threshold).toBe(100);
  const { faults, share } = await checkEvents({
    options: {
      ...(events.options as EventStreamOptions),
      ...options,
      ...{ threshold: "noisy-max", holdout: "1h" },
    },
    start: START,
    // θ is chosen half an hour after midnight: the events must not choose it and count the person in the day as well.
    steps: [
      ...[...crowd, of(24, "x", true), of(24.2, "x", true)],
      ...[24.5, 60].map((hour): Step => ({ do: "advance", now: START + hour * HOUR })),
    ],
    ...{ real: false, answers: false },
  });
  expect(faults).toEqual([]);
  expect(share).toBeLessThanOrEqual(1);
});

test("the day that chooses k spends ε, and one person counted twice in it would be seen", async () => {
  const of = (hour: number, person: string, neighbour: boolean): Step => ({
    do: "event",
    neighbour,
    event: { at: START + hour * HOUR + 1, value: 1, person },
  });
  const crowd = Array.from({ length: 40 }, (_, i) => of(2 + (i % 20), `p${i % 8}`, false));
  const own: EventCase = {
    options: {
      ...{ of: "count", epsilon: 1, every: "1h", levels: ["1h", "1d"], skew: "2d", unsafeSeed: "recorder" },
      perPerson: { events: "choose", most: 8, people: 8 },
    },
    start: START,
    steps: [
      ...crowd,
      ...[3, 5, 6, 7, 8].map((hour) => of(hour, "x", true)),
      // After midnight, before k is chosen: a day of its own, which neither chooses k nor counts.
      ...[of(24.2, "y", false), { do: "restore", now: START + 24.3 * HOUR } as const],
      ...[24.5, 60].map((hour): Step => ({ do: "advance", now: START + hour * HOUR })),
    ],
    ...{ real: false, answers: false },
  };
  const { kinds, faults, share } = await checkEvents(own);
  expect([kinds.includes("events, k chosen"), faults, share]).toEqual([true, [], 1]);
  expect((await checkEvents(own, { chooseTwice: true })).faults.join()).toContain("ε spent");
  expect((await checkEvents(own, { scale: (t) => times(t, 1n, 2n) })).faults.join()).toContain("ε spent");
});

// A key that joins with the day; two processes that are killed with or without an event; a request sent again hours later.
test.each([29497, 92462, 108916, 572798])("seed 25, %i: no event opens a hub", async (number) => {
  const { kinds, faults } = await checkConfiguration(25, number);
  expect(kinds).toContain("odometer");
  expect(faults).toEqual([]);
});

test("configurations are functions of their seed and number", () => {
  expect(randomValueCase(new Dice(1, 2))).toEqual(randomValueCase(new Dice(1, 2)));
  expect(randomEventCase(new Dice(1, 2))).toEqual(randomEventCase(new Dice(1, 2)));
});

test("a closed hub draws nothing ahead, which would be noise of its k beside that of the neighbour's run", async () => {
  for (let i = 0; i < 20; i++) expect((await checkConfiguration(51, 738_862)).faults).toEqual([]);
});
