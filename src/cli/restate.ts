/**
 * Makes the statement that this program would make of a release with the options that a statement names. What a statement
 * promises in words, and every number that follows from its options, must be the same.
 */
import type { AnyStatement } from "../adapters/registryRecord.js";
import { chooseCore } from "../core/choose.js";
import { FOUND_KEYS, KEYS } from "../durable/eventHub/eventHub.js";
import { SHARED_COMPOSITION } from "../durable/hub/hub.js";
import { parseDuration } from "../events/days/duration.js";
import { EventMetric } from "../events/eventMetric.js";
import type { EventSettings } from "../events/eventSettings.js";
import { discoveryRule } from "../events/keys/keyDiscovery.js";
import { type AnyEventOptions, resolveEvents } from "../events/options.js";
import { sharesOf } from "../events/shares.js";
import { type EventStatement, eventStatement, SYSTEM } from "../events/statement.js";
import { localSettings } from "../local/aggregatorOptions.js";
import { checkThreshold } from "../local/channel.js";
import { type LocalStatement, localStatement } from "../local/localStatement.js";
import { dayWindow } from "../local/mechanisms.js";
import { paperChannel } from "../local/paper/paperChannel.js";
import { settingsOf } from "../local/paper/settings.js";
import { type PaperStatement, paperStatement } from "../local/paper/statement.js";
import { clampedShare } from "../stream/holdout/holdoutStatement.js";
import { HoldoutStream } from "../stream/holdoutStream.js";
import { resolveSettings, type StreamOptions } from "../stream/options.js";
import { withSkipped } from "../stream/shape.js";
import { makeStatement, type Statement } from "../stream/statement.js";

/** Fields of a statement, without those that nothing follows from or that are checked by themselves. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Names of the fields in which a statement differs from what this program states of the same options.
 * @throws {Error} if no release has such options
 */
export function differences(statement: AnyStatement): string[] {
  const [stated, wanted] = fieldsOf(statement);
  // What JSON leaves out is not there.
  const [own, other] = [stated, wanted].map((fields) => JSON.parse(JSON.stringify(fields)) as Fields);
  return [...new Set([...Object.keys(own!), ...Object.keys(other!)])].filter(
    (name) => !isSame(own![name], other![name]),
  );
}

function fieldsOf(statement: AnyStatement): readonly [stated: object, wanted: object] {
  if ("every" in statement) return eventFields(statement);
  if ("blockLength" in statement) return valueFields(statement);
  return "stages" in statement ? paperFields(statement) : localFields(statement);
}

/** Exponentials may differ in their last bit from one platform to another. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => isSame((a as Fields)[name], (b as Fields)[name]))
  );
}

const NO_KEY = new Uint32Array(8);
/** When a release begins that is made for its statement alone. */
const BEGAN = Date.UTC(2026, 0, 1);

function eventFields(statement: EventStatement): readonly [object, object] {
  const settings = eventSettings(statement);
  const keys = { people: NO_KEY.subarray(4), own: NO_KEY, release: () => NO_KEY };
  // Only votes state that a file is finished. One that still chooses θ has no first number to state.
  const finished = statement.discovery?.finished ?? false;
  const wanted = eventStatement(new EventMetric({ ...settings, finished }, chooseCore(), keys, BEGAN, []));
  const left = (one: EventStatement) => {
    // The first two are of the machine and of the moment, the next two are checked by themselves.
    const { core: _, firstNumber: _1, software: _2, private: _3, randomness: _4, ...rest } = one;
    const { threshold, noiseScale, standardErrors, epsilonPerEvent, perPerson, ...others } = rest;
    const { events: _5, ...limits } = perPerson ?? {};
    const isKnown = wanted.noiseScale !== null && settings.buckets === undefined;
    return {
      ...others,
      // A k that was chosen is between 1 and `most`, and the noise follows from it; so it does from a θ that was chosen.
      perPerson: limits.most === undefined ? perPerson : limits,
      ...(limits.most === undefined ? { epsilonPerEvent } : {}),
      ...(isKnown ? { threshold, noiseScale, standardErrors } : {}),
      ...(statement.max === null ? { threshold } : {}),
    };
  };
  // A hub adds how its keys share ε.
  const hub = `${wanted.composition} ${settings.discovery === undefined ? KEYS : FOUND_KEYS}`;
  const composition = statement.composition === hub ? hub : wanted.composition;
  return [
    { ...left(statement), ...knownTogether(statement) },
    { ...left(wanted), composition, together: true },
  ];
}

/** Whether θ and k, if they are chosen, lie within their bounds, and are known together with the noise. */
function knownTogether({
  threshold,
  min,
  max,
  resolution,
  noiseScale,
  standardErrors,
  epsilonPerEvent,
  perPerson,
}: EventStatement): { readonly together: boolean } {
  const { events, most } = perPerson ?? {};
  const isChosen = most === undefined || (Number.isInteger(events) && events! >= 1 && events! <= most);
  const isBounded = threshold !== null && threshold > min! && threshold < max! + resolution!;
  const isKnown = (max === null || isBounded) && isChosen;
  const isOpen = (max === null || threshold === null || isBounded) && (events === undefined || isChosen);
  const numbers = [noiseScale, standardErrors];
  return {
    together: isKnown
      ? !numbers.includes(null) && epsilonPerEvent !== null
      : isOpen && numbers.every((each) => each === null),
  };
}

function eventSettings(statement: EventStatement): EventSettings {
  const { discovery, shares, epsilon } = statement;
  const settings = resolveEvents(eventOptions(statement), discovery?.finished ?? shares.threshold > 0);
  if (discovery === null) return settings;
  const share = shares.discovery;
  return {
    ...settings,
    shares: sharesOf({ people: settings.shares.limited > 0, chosen: false, discovery: share }),
    discovery: {
      ...{ share, asked: discovery.delta, most: discovery.most },
      rule: discoveryRule(epsilon, share, discovery.delta, discovery.cells),
      forget: parseDuration("forget", discovery.forget),
    },
  };
}

/** The statistic that a system of events names. */
function kindOf(system: string): keyof typeof SYSTEM {
  const found = Object.entries(SYSTEM).find(([, words]) => words === system)?.[0];
  if (found === undefined) throw new TypeError("system: expected one of this program");
  return found as keyof typeof SYSTEM;
}

function eventOptions(statement: EventStatement): AnyEventOptions {
  const { epsilon, zone, lateness, people, perPerson, levels, shares } = statement;
  const common = { epsilon, zone, ...(lateness === "0s" ? {} : { lateness }) };
  if (people !== null)
    return {
      ...common,
      of: "people",
      over: people.over,
      ...(shares.limited > 0 ? { keysPerPerson: people.keysPerPerson } : {}),
    };
  const { events, most, perHour, sum } = perPerson ?? {};
  const limits = {
    ...(most === undefined ? (events === undefined ? {} : { events }) : { events: "choose", most }),
    ...(perHour === undefined ? {} : { perHour }),
    ...(sum === undefined ? {} : { sum }),
  };
  const timed = {
    ...{ ...common, every: levels[0]!, levels },
    ...(perPerson === null ? {} : { perPerson: limits }),
  };
  const of = kindOf(statement.system);
  // The buckets are not stated, and only the noise depends on them.
  if (of === "histogram") return { ...timed, edges: [0, 1] } as AnyEventOptions;
  if (of === "count") return { ...timed, of } as AnyEventOptions;
  const { min, max, resolution, threshold } = statement;
  // A θ that was chosen takes a share of ε for its count of clamped events. Whole steps put θ above `max` by one at most.
  const isGiven = shares.clipped === 0 && sum === undefined && threshold! < max! + resolution!;
  return {
    ...{ ...timed, of, max, resolution },
    // Rounded down to whole steps, which it is: from a little above it, whatever the last bit.
    min: min === 0 ? 0 : min! + resolution! / 4,
    ...(isGiven ? { threshold: Math.min(threshold!, max!) } : {}),
  } as AnyEventOptions;
}

const NAMES = { default: "ToPS", paper: "ToPS, as in the paper" } as const;

function valueFields(statement: Statement): readonly [object, object] {
  if (statement.composition === SHARED_COMPOSITION) return sharedFields(statement);
  const asked = resolveSettings(valueOptions(statement));
  // The probe may have decided for one level less.
  const less = asked.holdout.probing > 0 && asked.tree.skipped === statement.skipLevels + 1;
  const settings = less ? withSkipped(asked, statement.skipLevels) : asked;
  const made = new HoldoutStream(asked, chooseCore(), NO_KEY).statement();
  const wanted = makeStatement(settings, "wasm", 0, made);
  const left = (one: Statement) => {
    const { software: _, private: _1, randomness: _2, core: _3, published: _4, settled: _5, ...rest } = one;
    // A smoother may be a function; θ, its noise and its count are checked by themselves.
    const { smoother: _6, warnings: _7, threshold: _8, thresholds: _9, noiseScale: _10, ...others } = rest;
    const { clampedShare: _11, ...fields } = others;
    return fields;
  };
  return [
    { ...left(statement), ...chosenTheta(statement) },
    { ...left(wanted), ...{ chosen: true, counted: true } },
  ];
}

/** A stream of a hub whose first values chose θ for all its streams: θ is public to it, and it has one stage more. */
function sharedFields(statement: Statement): readonly [object, object] {
  const [first, ...stages] = statement.stages;
  const { composition, stages: others, ...rest } = statement;
  const own = { ...rest, stages };
  const alone = resolveSettings(valueOptions({ ...own, composition: "" }));
  const { composition: stated } = new HoldoutStream(alone, chooseCore(), NO_KEY).statement();
  const [one, wanted] = valueFields({ ...own, composition: stated });
  const isSpent = first?.stage === "threshold" && first.epsilon === statement.epsilon && first.delta === 0;
  return [
    { ...one, ...{ composition, stages: others, spent: isSpent } },
    { ...wanted, ...{ composition: SHARED_COMPOSITION, stages: [first, ...stages], spent: true } },
  ];
}

function valueOptions(statement: Statement): StreamOptions {
  const { epsilon, min, max, maxRange, resolution, fanout, skipLevels, system, stages, threshold } =
    statement;
  const variant = Object.entries(NAMES).find(([, words]) => words === system)?.[0] as keyof typeof NAMES;
  if (variant === undefined) throw new TypeError("system: expected one of this program");
  const has = (name: string) => stages.some(({ stage }) => stage === name);
  const isChosen = has("threshold");
  const follow = has("following");
  return {
    ...{ epsilon, min, max, maxRange, variant },
    holdout: stages.find(({ stage }) => stage === "release")!.values[0],
    ...(isChosen || threshold === null ? {} : { threshold }),
    tuning: {
      ...{ resolution, fanout, follow },
      skipLevels: has("probe") ? "auto" : skipLevels,
      warmStart: has("warm start"),
      refine: stages.filter(({ stage }) => stage === "release").length === 2,
    },
  };
}

/** Whether θ lies within its bounds, is the last one of the list, and has its noise; and whether its count has its interval. */
function chosenTheta(statement: Statement): { readonly chosen: boolean; readonly counted: boolean } {
  const { min, max, threshold, thresholds, noiseScale, stages, epsilon, clampedShare: counted } = statement;
  const isInside = (theta: number) => theta > min && theta <= max;
  const isRising = thresholds.every(({ from }, i) => from >= (thresholds[i - 1]?.from ?? 0));
  const last = thresholds.at(-1)?.threshold;
  const shares = stages.flatMap((stage) => (stage.stage === "clamped share" ? [stage.epsilon] : []));
  const interval = (share: number) => clampedShare({ count: counted!.count, values: counted!.of }, share);
  return {
    chosen:
      (threshold === null) === (noiseScale === null) &&
      isRising &&
      thresholds.every((each) => isInside(each.threshold)) &&
      (threshold === null || isInside(threshold)) &&
      (last === undefined || last === threshold),
    counted: counted === null || [...shares, epsilon].some((share) => isSame(interval(share), counted)),
  };
}

function localFields(statement: LocalStatement): readonly [object, object] {
  const { epsilon, max, follow, zone, threshold, reports, rejected, core } = statement;
  const settings = localSettings({ epsilon, max, follow, zone, threshold });
  const wanted = localStatement(settings, dayWindow(epsilon), { threshold, reports, rejected, core });
  return [withoutSoftware(statement), withoutSoftware(wanted)];
}

function paperFields(statement: PaperStatement): readonly [object, object] {
  const { max, maxRange, estimator, tail, objective, threshold, expectedClipping, core, rejected } =
    statement;
  const [learn, release] = statement.stages as readonly (PaperStatement["stages"][number] | undefined)[];
  // The ε of the second phase is not stated before it begins.
  const [learnEpsilon, epsilon] = [learn!.epsilon, release?.epsilon ?? statement.epsilon];
  const tuning = { learnEpsilon, estimator, tail, objective };
  const settings = settingsOf({ epsilon, max, maxRange, tuning });
  const counts = { learned: learn!.reports, released: release?.reports ?? 0, rejected };
  const chosen =
    threshold === null
      ? undefined
      : {
          theta: checkThreshold(threshold, max),
          excess: expectedClipping ?? undefined,
          channel: paperChannel("release", epsilon, threshold),
        };
  const learning = paperChannel("learn", learnEpsilon, max);
  const wanted = paperStatement(settings, core, counts, learning, chosen);
  return [withoutSoftware(statement), withoutSoftware(wanted)];
}

const withoutSoftware = ({ software: _, ...rest }: LocalStatement | PaperStatement): object => rest;
