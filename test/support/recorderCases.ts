/**
 * Configurations for the recorder of sensitivity (recorder.ts): each is a function of a seed and its own number. It has
 * random options, random data, a neighbour of the data, and a way to run both with snapshots in between.
 */
import { Dice } from "../../scripts/fuzz/dice.js";
import { beginEvents, restoreEvents } from "../../src/events/kinds.js";
import { type AnyEventOptions, resolveEvents } from "../../src/events/options.js";
import { privateStream, restore, type StreamOptions } from "../../src/index.js";
import { heldOut, resolveSettings, type Settings } from "../../src/stream/options.js";
import { compare, Ledger, type Plant, Recording } from "./recorder.js";
import { checkFile } from "./recorderFiles.js";
import { checkHub, checkReports } from "./recorderHubs.js";
import { recorded } from "./recorderHooks.js";
import { eventWeights, valueWeights } from "./recorderWeights.js";

/** Result of checking a configuration. */
export interface Result {
  /** Kinds of streams and mechanisms that it covered, for the tally. */
  readonly kinds: readonly string[];
  readonly faults: readonly string[];
  readonly share: number;
}

export interface Event {
  readonly at: number;
  readonly value: number;
  readonly person?: string;
}

const EPSILONS = [0.1, 0.5, 1, 2, 3, 1 / 3, 0.7];
const KEY = new Uint8Array(32).fill(7);

// Value streams

export function randomValueOptions(dice: Dice): StreamOptions {
  const fanout = dice.pick([2, 3, 4, 8]);
  const max = dice.pick([1, 10, 256]);
  const maxRange = fanout * (2 + dice.below(40));
  const [variant, fixed] = dice.pick([
    ["default", false],
    ["default", true],
    ["default", false],
    ["paper", false],
  ] as const);
  const values = fanout ** Math.ceil(Math.log(maxRange) / Math.log(fanout) - 1e-9);
  const follow = variant === "default" && !fixed && dice.chance(0.5);
  const refine = follow && values / fanout >= 32 && dice.chance(0.5);
  return {
    ...{ epsilon: dice.pick(EPSILONS), max, maxRange, variant },
    holdout: fixed ? dice.below(20) : 16 + dice.below(dice.pick([16, 200])),
    ...(fixed ? { threshold: max * dice.pick([1, 0.5]) } : {}),
    tuning: {
      ...{ fanout, skipLevels: dice.pick(["auto", "auto", 0, 1] as const), warmStart: dice.chance(0.7) },
      resolution: max / dice.pick([1, 16, 256]),
      ...(variant === "default" && !fixed ? { follow, refine } : {}),
    },
    history: Infinity,
    unsafeSeed: "recorder",
    ...(dice.chance(0.25) ? { min: -max * dice.pick([0.5, 1, 3]) } : {}),
  };
}

/** A value replaced: mostly by one that is as far away as can be. */
function randomValue(dice: Dice, { grid: { min, width } }: Settings): number {
  return min + dice.pick([0, width, 2 * width, width * dice.unit(), (width * dice.unit()) / 16]);
}

export interface ValueCase {
  readonly options: StreamOptions;
  readonly values: Float64Array;
  readonly neighbour: Float64Array;
  /** Positions before which a snapshot is taken and restored. */
  readonly snapshots: ReadonlySet<number>;
  /** How many values a call takes. */
  readonly batch: number;
  readonly real: boolean;
}

export function randomValueCase(dice: Dice): ValueCase {
  for (;;) {
    const options = randomValueOptions(dice);
    let settings: Settings;
    try {
      settings = resolveSettings(options);
    } catch {
      continue;
    }
    const count = heldOut(settings) + dice.below(Math.min(400, 3 * settings.tree.maxRange)) + 1;
    const values = Float64Array.from({ length: count }, () => randomValue(dice, settings));
    const neighbour = values.slice();
    const at = dice.chance(0.4) ? dice.below(Math.max(1, heldOut(settings))) : dice.below(count);
    values[at] = dice.chance(0.6) ? settings.grid.min : randomValue(dice, settings);
    neighbour[at] = dice.chance(0.6)
      ? settings.grid.min + 2 * settings.grid.width
      : randomValue(dice, settings);
    const snapshots = new Set(dice.chance(0.1) ? [dice.below(count), dice.below(count)] : []);
    // θ that follows is noted at the ends of trees: one value at a time.
    const batch = settings.privacy.follow ? 1 : dice.pick([1, 7, 64]);
    return { options, values, neighbour, snapshots, batch, real: dice.chance(0.1) };
  }
}

export async function checkValues(own: ValueCase, plant?: Plant): Promise<Result> {
  const { options, values, neighbour, snapshots, batch, real } = own;
  const settings = resolveSettings(options);
  const weights = valueWeights(settings);
  const run = async (data: Float64Array) => {
    const recording = new Recording({ real, ...(plant && { plant }) });
    const sums = await recorded(recording, weights, async () => {
      let stream = privateStream(options);
      for (let at = 0; at < data.length;) {
        if (snapshots.has(at)) stream = await restore(await stream.snapshot(KEY), KEY, options);
        const end = [...snapshots].reduce(
          (end, s) => (s > at && s < end ? s : end),
          Math.min(data.length, at + batch),
        );
        if (end - at === 1) stream.push(data[at]!);
        else stream.pushMany(data.subarray(at, end));
        at = end;
      }
      const { blockLength, epsilon } = stream.statement();
      if (epsilon !== options.epsilon) recording.faults.push("statement: another ε than was asked for");
      const whole = Math.floor(stream.length / blockLength);
      return Array.from({ length: Math.min(whole, 8) }, (_, i) => {
        const block = whole - 1 - i;
        return stream.range(block * blockLength, (block + 1) * blockLength, { answer: "blocks" }).sum;
      });
    });
    return { recording, sums };
  };
  const [a, b] = [await run(values), await run(neighbour)];
  const { faults, share, diverged } = compare(a.recording, b.recording, options.epsilon);
  const kinds = [
    `values, θ ${typeof options.threshold === "number" ? "public" : options.variant === "paper" ? "by noisy max" : "chosen"}`,
    ...(settings.grid.min < 0 ? ["values, below zero"] : []),
    ...(settings.privacy.follow ? ["values, θ follows"] : []),
    ...(settings.privacy.refine ? ["values, θ refined"] : []),
    ...(settings.holdout.probing > 0 ? ["values, probe"] : []),
    ...(snapshots.size > 0 ? ["values, restored"] : []),
    ...(diverged ? ["values, decisions differ"] : []),
  ];
  return { kinds, share, faults: [...faults, ...(diverged ? [] : publicDifferences(own, settings, a, b))] };
}

/** The answers of blocks differ by what the recorded sums differ by: the recorder saw what is published. */
function publicDifferences(
  { options }: ValueCase,
  settings: Settings,
  a: { readonly recording: Recording; readonly sums: readonly number[] },
  b: { readonly recording: Recording; readonly sums: readonly number[] },
): string[] {
  const of = ({ recording, sums }: typeof a) => {
    const met = recording.leaves.map(({ sum }) => sum);
    return sums.map((sum, i) => sum - met[met.length - 1 - i]! * settings.grid.resolution);
  };
  const [noiseA, noiseB] = [of(a), of(b)];
  return noiseA.flatMap((noise, i) =>
    Math.abs(noise - noiseB[i]!) <= 1e-6 * options.max
      ? []
      : [`block ${i} from the end: answers hold other sums than were recorded`],
  );
}

// Event streams

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Days with 23, 24 and 25 hours in some zones. */
const STARTS = [
  Date.UTC(2026, 2, 28, 23),
  Date.UTC(2026, 9, 24, 21, 30),
  Date.UTC(2026, 5, 1, 6, 15),
  Date.UTC(2026, 0, 1),
];

export function randomEventOptions(dice: Dice): AnyEventOptions {
  const levels = dice.pick([
    ["1h"],
    ["1h", "1d"],
    ["15m", "1h", "1d"],
    ["1d"],
    ["30m", "6h", "1d"],
    ["5m", "1h"],
    ["1h", "6h"],
  ] as const);
  const common = {
    ...{ epsilon: dice.pick(EPSILONS), every: levels[0], levels, unsafeSeed: "recorder" },
    zone: dice.pick(["UTC", "UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
    ...(dice.chance(0.3) ? { lateness: dice.pick(["10m", "2h"] as const) } : {}),
    skew: "1d",
  } as const;
  const events = 1 + dice.below(10);
  const people = { people: 8 };
  const hourly = dice.chance(0.4) ? { perHour: 1 + dice.below(events) } : {};
  const limited = { events, ...hourly, ...people };
  const isLimited = dice.chance(0.6);
  const perPerson = isLimited ? { perPerson: limited } : {};
  /** Where θ is public, k may be chosen. */
  const limits =
    isLimited && dice.chance(0.3)
      ? { perPerson: { events: "choose", most: events, ...hourly, ...people } as const }
      : perPerson;
  const kind = dice.pick([
    "count",
    "sum",
    "mean",
    "histogram",
    "histogram",
    "chosen",
    "chosen",
    "person's sum",
    "people",
  ] as const);
  const max = dice.pick([1, 100, 256]);
  const resolution = max / dice.pick([1, 8, 256]);
  const min = dice.chance(0.3) ? { min: -max * dice.pick([0.5, 1, 3]) } : {};
  switch (kind) {
    case "count":
      return { ...common, ...limits, of: "count" };
    case "people": {
      const { every: _, levels: __, ...rest } = common;
      return { ...rest, of: "people", over: dice.pick(["1d", "1w", "1mo"]) };
    }
    case "histogram": {
      const edges = dice.pick([[1, 2], [1, 2, 4, 8], { min: 1, max: 64, buckets: 256 }]);
      const coarse = "min" in edges ? { every: "1d", levels: ["1d"] as const } : {};
      return { ...common, ...limits, ...coarse, edges };
    }
    case "person's sum":
      return {
        ...common,
        of: "sum",
        max,
        resolution,
        perPerson: { sum: max * dice.pick([1, 2.5, 8]), ...people },
      };
    case "chosen":
      return {
        ...common,
        ...perPerson,
        of: dice.pick(["sum", "mean"]),
        ...min,
        max,
        resolution,
        holdout: dice.pick(["1h", "1d"]),
      };
    default:
      return {
        ...common,
        ...limits,
        of: kind,
        ...min,
        max,
        resolution,
        threshold: max * dice.pick([1, 0.25]),
      };
  }
}

/** One step of a history: an event, or a change of the clock. */
export type Step =
  | { readonly do: "event"; readonly event: Event; readonly neighbour: boolean }
  | { readonly do: "advance" | "restore"; readonly now: number };

export interface EventCase {
  readonly options: AnyEventOptions;
  readonly start: number;
  readonly steps: readonly Step[];
  readonly real: boolean;
  /** Whether answers are computed when periods end: they draw nothing, which a part of the configurations shows. */
  readonly answers: boolean;
  /** Whether all events are rows of a file that is there before the first number. */
  readonly finished?: boolean;
}

/** The neighbour has the events of one person and day more, or one event more. */
export function randomEventCase(dice: Dice): EventCase {
  const options = randomEventOptions(dice);
  const settings = resolveEvents(options);
  const { limit, grid, schedule, distinct } = settings;
  const { calendar, levels } = schedule;
  const picked = dice.pick(STARTS);
  // A week or month that began before the stream has no number.
  const start = distinct === undefined ? picked : calendar.dayAt(picked).start;
  // Many short periods or many columns show nothing that fewer days of them do not.
  const many = levels[0]! <= HOUR / 4 || settings.buckets !== undefined;
  // k is chosen from the first whole day.
  const before = limit?.most === undefined ? 0 : 1;
  const end = start + (1 + before + dice.below(many ? 2 : 3)) * DAY;
  const day = calendar.dayAt(start + dice.below(end - start));
  const chosen = grid !== undefined && grid.threshold === undefined;
  const most = limit?.events ?? limit?.most ?? 4;
  const max = grid?.max ?? 70;
  const steps: Step[] = [];
  const crowd = chosen ? 4 + dice.below(30) : dice.below(8);
  let now = start;
  let left = limit === undefined ? 1 : 1 + dice.below(2 * most + 2);
  const always = dice.chance(0.5);
  const sign = (): number => ((grid?.min ?? 0) < 0 && dice.chance(0.5) ? -2 : 1);
  while (now < end) {
    const jump = dice.pick([20 * 60_000, HOUR, 5 * HOUR, 11 * HOUR]) * dice.unit();
    now += jump;
    for (let i = dice.below(crowd + 1); i > 0; i--)
      steps.push({
        do: "event",
        neighbour: false,
        event: randomEvent(dice, now, max, limit && `p${dice.below(6)}`),
      });
    while (left > 0 && now >= day.start && now < day.end && (limit === undefined || dice.chance(0.7))) {
      const event = {
        at: now,
        value: (always ? 2 * max : dice.pick([0, max, max * dice.unit()])) * sign(),
        ...(limit && { person: "x" }),
      };
      steps.push({ do: "event", neighbour: true, event });
      left--;
    }
    if (dice.chance(0.6)) steps.push({ do: "advance", now });
    else if (dice.chance(0.06)) steps.push({ do: "restore", now });
  }
  steps.push({ do: "advance", now: calendar.dayAt(now).end + 2 * HOUR }); // the latest events of the last day
  return {
    options,
    start,
    steps,
    real: dice.chance(0.1),
    answers: dice.chance(0.1),
    finished: dice.chance(chosen ? 0.4 : 0.1) && limit?.most === undefined,
  };
}

function randomEvent(dice: Dice, now: number, max: number, person: string | undefined): Event {
  const at = now - (dice.chance(0.2) ? dice.below(HOUR) : 0);
  return { at, value: dice.pick([0, max, max * dice.unit()]), ...(person === undefined ? {} : { person }) };
}

export async function checkEvents(own: EventCase, plant?: Plant): Promise<Result> {
  if (own.finished === true) return checkFile(own, plant);
  const { options, start, steps, real, answers } = own;
  const settings = resolveEvents(options);
  const weights = eventWeights(settings);
  const run = async (more: boolean) => {
    const recording = new Recording({ real, ledger: new Ledger(), ...(plant && { plant }) });
    await recorded(recording, weights, async () => {
      let now = start;
      const clocked = { ...options, clock: () => now };
      const silent = <T extends object>(made: T): T =>
        answers ? made : Object.defineProperty(made, "answer", { value: () => undefined });
      let stream = silent(beginEvents(clocked));
      for (const step of steps) {
        if (step.do === "event") {
          if (step.neighbour && !more) continue;
          const { value, ...event } = step.event;
          now = Math.max(now, event.at);
          if (settings.of === "count") (stream as { add(event: object): void }).add(event);
          else stream.add(value, event);
          continue;
        }
        now = Math.max(now, step.now);
        if (step.do === "advance") stream.advance(now);
        else stream = silent(await restoreEvents(await stream.snapshot(KEY), KEY, clocked));
      }
      if (stream.statement().epsilon !== options.epsilon) recording.faults.push("statement: another ε");
    });
    return recording;
  };
  const [a, b] = [await run(false), await run(true)];
  const { faults, share, diverged } = compare(a, b, options.epsilon);
  const kinds = [
    settings.distinct !== undefined
      ? `events: different people, ${settings.distinct.over}`
      : `events: ${settings.of}${settings.limit === undefined ? "" : settings.limit.sum === undefined ? ", people" : ", people's sums"}`,
    ...(settings.grid !== undefined && settings.grid.threshold === undefined ? ["events, θ chosen"] : []),
    ...(settings.limit?.most !== undefined
      ? [a.outputs.length > 0 ? "events, k chosen" : "events, k to be chosen"]
      : []),
    ...(settings.buckets !== undefined && settings.buckets.group > 1 ? ["events, groups of buckets"] : []),
    ...(steps.some((step) => step.do === "restore") ? ["events, restored"] : []),
    ...(diverged ? ["events, decisions differ"] : []),
  ];
  return { kinds, share, faults };
}

/** One configuration. */
export async function checkConfiguration(seed: number, number: number): Promise<Result> {
  const dice = new Dice(seed, number);
  const kind = dice.below(128); // a hub takes as long as twenty others
  if (kind === 0) return checkHub(dice);
  if (kind === 1) return checkReports(dice);
  return kind < 65 ? checkValues(randomValueCase(dice)) : checkEvents(randomEventCase(dice));
}
