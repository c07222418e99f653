/**
 * Configurations for the recorder of sensitivity that have a store: hubs of events whose keys and settings change between
 * openings and that are killed between commits, with an odometer; and reports of devices.
 */
import { Dice } from "../../scripts/fuzz/dice.js";
import {
  openHub,
  openOdometer,
  type Metric,
  type Odometer,
  type Store,
  type StoredSnapshot,
} from "../../src/index.js";
import { resolveEvents } from "../../src/events/options.js";
import { dayWindow, hybrid, piecewise, squareWave, stochasticRounding } from "../../src/local/mechanisms.js";
import { cellShares, exponential } from "./mechanisms.js";
import { compare, Ledger, type Plant, Recording } from "./recorder.js";
import { recorded } from "./recorderHooks.js";
import { eventWeights } from "./recorderWeights.js";
import type { Result } from "./recorderCases.js";

const KEY = new Uint8Array(32).fill(7);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 5, 1, 9);

/** A durable store in memory. */
function memory(): Store {
  const snapshots = new Map<string, StoredSnapshot>();
  return {
    durable: true,
    get: (name) => Promise.resolve(snapshots.get(name)),
    put(name, sequence, bytes) {
      if (sequence !== (snapshots.get(name)?.sequence ?? 0) + 1)
        return Promise.reject(Object.assign(new Error("taken"), { code: "conflict" }));
      snapshots.set(name, { sequence, bytes: bytes.slice() });
      return Promise.resolve();
    },
  };
}

interface Session {
  readonly metric: Metric;
  readonly steps: readonly HubStep[];
  /** The process ends without a word. */
  readonly killed: boolean;
}

interface HubEvent {
  readonly key: string;
  readonly value?: number;
  readonly person?: string;
  readonly neighbour: boolean;
}

interface HubStep {
  readonly now: number;
  readonly events: readonly HubEvent[];
  readonly closes: boolean;
}

const KEYS = ["a", "b", "c"];
const MAX = 100;

/** Options of each measure, besides epsilon, periods and people. */
const MEASURES = {
  count: { of: "count" },
  sum: { of: "sum", max: MAX, resolution: 1, threshold: MAX },
  mean: { of: "mean", min: -MAX, max: MAX, resolution: 1, threshold: MAX / 2 },
  "sum, θ chosen": { of: "sum", max: MAX, resolution: 1, holdout: "1h" },
  "mean, θ chosen": { of: "mean", max: MAX, resolution: 1, holdout: "1h" },
  histogram: { edges: [1, 10, 50, MAX] },
} as const;
type Measure = keyof typeof MEASURES;
/** Events of others in each step while θ is chosen: there must be enough of them. */
const CROWD = 60;

/** Keys that nobody lists, and people who vote for them in each step, at most. */
const NEW_KEYS = ["n1", "n2", "a"];
const VOTERS = 24;

/** Sessions of one hub, one after the other: all with the same protection, so that it is one release. */
function randomSessions(dice: Dice): {
  readonly sessions: readonly Session[];
  readonly epsilon: number;
  readonly measure: Measure;
} {
  const epsilon = dice.pick([0.5, 1, 3]);
  // Of its own: a hub that was killed may still draw ahead while the next configuration runs.
  const word = dice.word();
  const unsafeSeed = `hub ${word}`;
  const measures = new Dice(word, 0);
  const measure = measures.pick(Object.keys(MEASURES) as Measure[]);
  const chosen = measure.endsWith("chosen");
  const valueOf = (neighbour: boolean) =>
    measure === "count"
      ? {}
      : {
          value: neighbour && measures.chance(0.5) ? 2 * MAX : measures.pick([0, MAX, MAX * measures.unit()]),
        };
  const people = dice.chance(0.5) ? { perPerson: { events: 1 + dice.below(3), people: 8 } } : {};
  // Beside a public θ a hub may choose k.
  const limit =
    "perPerson" in people && !chosen && new Dice(word, 2).chance(0.3)
      ? { perPerson: { events: "choose", most: people.perPerson.events, people: 8 } as const }
      : people;
  const levels = dice.pick([["1h"], ["1h", "1d"]] as const);
  const voting = new Dice(word, 1);
  const votes = limit === people && "perPerson" in people && !chosen && voting.chance(0.5);
  const changes = dice.chance(0.3);
  // The day in which the neighbour has more; the first one is held out.
  const target = (chosen ? 0 : 1) + dice.below(2);
  let now = START;
  const sessions = Array.from({ length: 2 + dice.below(3) }, (_, i): Session => {
    const keys = KEYS.filter(() => dice.chance(0.7));
    // Another lateness is another release of the same name: noise of its days must not be used again.
    const lateness = changes && i > 0 && dice.chance(0.6) ? { lateness: "30m" as const } : {};
    const steps = Array.from({ length: 2 + dice.below(5) }, (): HubStep => {
      now += dice.pick([HOUR / 3, HOUR, 8 * HOUR]) * (0.5 + dice.unit());
      const day = Math.floor(now / DAY) - Math.floor(START / DAY) === target;
      const more = day && dice.chance(0.8) ? [{ key: dice.pick(KEYS), neighbour: true }] : [];
      const others = Array.from({ length: dice.below(3) }, () => ({
        key: dice.pick(KEYS),
        neighbour: false,
      }));
      const crowd = Array.from({ length: chosen ? CROWD : 0 }, (_, i) => ({
        ...{ key: "a", neighbour: false, value: MAX * measures.unit() },
        ...("perPerson" in people ? { person: `of the crowd ${i}` } : {}),
      }));
      const events = [...others, ...more].map((event) => ({
        ...event,
        ...valueOf(event.neighbour),
        ...("perPerson" in people ? { person: event.neighbour ? "x" : `p${dice.below(3)}` } : {}),
      }));
      const voters = Array.from({ length: votes ? voting.below(VOTERS) : 0 }, (_, i) => ({
        ...{ key: voting.pick(NEW_KEYS), neighbour: false, person: `voter ${i}` },
        ...valueOf(false),
      }));
      return { now, events: [...crowd, ...voters, ...events], closes: dice.chance(0.7) };
    });
    const listed = keys.length > 0 ? keys : ["a"];
    const discovered = { listed, discover: { delta: 1e-3, share: 24 / 32 } };
    const common = { epsilon, keys: votes ? discovered : listed, unsafeSeed, ...lateness };
    // Where people are limited, counts on one level are of different people.
    const metric: Metric =
      measure === "count" && limit === people && people.perPerson !== undefined && levels.length === 1
        ? { ...common, of: "people", over: "1d", keysPerPerson: people.perPerson.events }
        : { ...common, every: "1h", levels, ...MEASURES[measure], ...limit };
    return { metric, steps, killed: dice.chance(0.4) };
  });
  return { sessions: "perPerson" in people ? sessions : withOneMore(sessions), epsilon, measure };
}

/** Without people a neighbour has one event more. */
function withOneMore(sessions: readonly Session[]): Session[] {
  let left = 1;
  return sessions.map((session) => ({
    ...session,
    steps: session.steps.map((step) => ({
      ...step,
      events: step.events.filter(({ neighbour }) => !neighbour || left-- > 0),
    })),
  }));
}

const choosesLimit = (metric: Metric): boolean =>
  "perPerson" in metric && typeof metric.perPerson === "object" && metric.perPerson.events === "choose";

function openCounted(metric: Metric, store: Store, odometer: Odometer, clock: () => number) {
  return openHub({
    ...{ metrics: { m: metric }, store, key: KEY, commitEvery: 0, clock, confirmClock: true },
    remember: "1d", // longer than a client waits before it sends a request again
    budget: { odometer, data: "all", perUnit: 1 },
  });
}
type Opened = ReturnType<typeof openCounted>;

/** Faults that a test plants. */
interface HubPlants {
  /** A service that knows no request again. */
  readonly forgetful?: boolean;
  readonly plant?: Plant;
}

/** A hub of events through several openings, beside an odometer. */
export async function checkHub(
  dice: Dice,
  { forgetful = false, plant = {} }: HubPlants = {},
): Promise<Result> {
  const { sessions, epsilon, measure } = randomSessions(dice);
  const { keys: _, ...measured } = sessions[0]!.metric;
  const weights = eventWeights(resolveEvents(measured));
  // As the service does: rows of events of any metric, under the id of a request, which clients send again.
  const service = dice.chance(0.5);
  const run = async (more: boolean) => {
    const recording = new Recording({ hub: true, ledger: new Ledger(), plant });
    const store = memory();
    const odometer = await openOdometer({
      name: "odometer",
      store: memory(),
      key: KEY,
      limit: { epsilon: 1000, delta: 1 },
    });
    const killedHubs: Opened[] = [];
    await recorded(recording, weights, async () => {
      let now = START;
      let requests = 0;
      let again: (hub: Opened) => Promise<void> = () => Promise.resolve();
      for (const { metric, steps, killed } of sessions) {
        now = steps[0]!.now;
        const hub = openCounted(metric, store, odometer, () => now);
        await hub.stats(); // a process that is killed has opened it
        await again(hub); // its client does not know what the process before has stored
        for (const step of steps) {
          now = step.now;
          const events = step.events.filter(({ neighbour }) => more || !neighbour);
          const rows = events.map(({ neighbour: _, ...row }) => row);
          if (service) {
            const id = String(requests++);
            again = (opened) =>
              opened.addAll(
                rows.map((row) => ({ metric: "m" as const, ...row })),
                { id: forgetful ? `${id}, sending ${requests++}` : id, body: `body ${id}` },
              );
            await again(hub);
            await again(hub);
          } else if (rows.length > 0) await hub.addMany("m", rows);
          if (step.closes) await hub.advance();
        }
        if (killed) killedHubs.push(hub);
        else await hub.close();
      }
    });
    const spent = odometer.spent("all");
    // They would draw ahead while the neighbour's run is recorded, where k or θ may be another.
    for (const hub of killedHubs) await hub.close().catch(() => undefined);
    return { recording, spent };
  };
  const [a, b] = [await run(false), await run(true)];
  const generations = new Set(sessions.map(({ metric }) => JSON.stringify(metric.lateness)));
  const compared = compare(a.recording, b.recording, epsilon, false);
  const faults = [...compared.faults];
  const { spent } = a;
  if (spent !== b.spent) faults.push("odometer: neighbours are charged differently");
  if (spent < epsilon) faults.push(`odometer: ${spent} charged for a release of ${epsilon}`);
  if (generations.size > 1 && spent < 2 * epsilon) faults.push("odometer: other settings are not charged");
  return {
    kinds: [
      ...("over" in sessions[0]!.metric ? ["hub of different people"] : []),
      ...[
        service ? "service rows" : "hub of events",
        "odometer",
        ...(sessions.some(({ killed }) => killed) ? ["hub killed"] : []),
        `hub: ${measure}`,
        ...(a.recording.outputs.some(({ value }) => Number.isFinite(JSON.parse(value)))
          ? [choosesLimit(sessions[0]!.metric) ? "hub: k was chosen" : "hub: θ was chosen"]
          : []),
        ...("discover" in sessions[0]!.metric.keys ? ["hub: votes"] : []),
        ...(a.recording.outputs.some(({ value }) => value.startsWith('["')) ? ["hub: keys were found"] : []),
      ],
      ...(new Set(sessions.map(({ metric }) => JSON.stringify(metric.keys))).size > 1
        ? ["hub opened with other keys"]
        : []),
      ...(generations.size > 1 ? ["hub opened with other settings"] : []),
    ],
    faults,
    share: compared.share,
  };
}

const MECHANISMS = {
  window: (epsilon: number) => dayWindow(epsilon, 4, 8),
  squareWave: (epsilon: number) => squareWave(epsilon, 4, 8),
  stochasticRounding: (epsilon: number) => stochasticRounding(epsilon, 8),
  piecewise: (epsilon: number) => piecewise(epsilon, 8),
  hybrid: (epsilon: number) => hybrid(epsilon, 8),
};

/** A report replaced: no cell is more than e^ε times as likely for one value as for another, in whole numbers. */
export function checkReports(dice: Dice): Result {
  const epsilon = dice.scaled(0.01, 16);
  const faults: string[] = [];
  const { low, bits } = exponential(epsilon); // low/2^bits ≤ e^ε
  for (const [name, make] of Object.entries(MECHANISMS)) {
    const mechanism = make(epsilon);
    const [one, other] = [dice.below(mechanism.top + 1), dice.below(mechanism.top + 1)];
    const [a, b] = [cellShares(mechanism, one), cellShares(mechanism, other)];
    for (let cell = 0; cell < mechanism.cells; cell++)
      if (a[cell]! << bits > b[cell]! * low || b[cell]! << bits > a[cell]! * low)
        faults.push(`${name}: cell ${cell} of inputs ${one} and ${other} at ε = ${epsilon}`);
  }
  return { kinds: Object.keys(MECHANISMS).map((name) => `local reports: ${name}`), faults, share: 0 };
}
