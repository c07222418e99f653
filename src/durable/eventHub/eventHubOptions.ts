/** Options of a hub of events, checked, with every default filled in. */
import { checkInteger, checkText, ownOptions, shown } from "../../core/checks.js";
import { given } from "../../core/given.js";
import { Calendar } from "../../events/days/calendar.js";
import { type Duration, parseDuration } from "../../events/days/duration.js";
import { calendarOver, type PeopleOptions } from "../../events/people/distinct.js";
import type { Discover } from "../../events/keys/keyDiscovery.js";
import { OTHER_KEYS } from "../../events/keys/keyName.js";
import type { EventSettings } from "../../events/eventSettings.js";
import {
  type EventStreamOptions,
  type HistogramOptions,
  eventKind,
  optionsOf,
  resolveEvents,
  withDiscovery,
} from "../../events/options.js";
import type { SnapshotKey } from "../../snapshot/streamCipher.js";
import { CheckedStore } from "../checkedStore.js";
import type { ClosedSpan } from "./hubMetric.js";
import { keyRule, type KeyRule } from "../hub/hubOptions.js";
import type { Budget } from "../budget/odometer.js";
import type { Store } from "../stores/store.js";

interface Keyed {
  /**
   * The keys of this metric, known in advance: a list, or a public rule that allows fewer than 65,536 names (of more, the
   * events of those that come later in a day are dropped, and that depends on who came before). All of them publish from the
   * start, whether or not they have events. Events of other keys are dropped in silence: a key that appears with its first
   * event tells that there was one. Keys that are listed later publish from the next midnight on.
   */
  readonly keys: Iterable<string> | ((key: string) => boolean) | DiscoveredKeys;
}

/** Keys that nobody listed: people's events vote for them. Needs `perPerson`, and δ > 0. */
export interface DiscoveredKeys {
  /** Keys that are public from the start; they use no votes. Default none. */
  readonly listed?: Iterable<string>;
  /**
   * How others become public: from the second midnight after enough people of one day used them. Until then their events
   * count under the reserved key "(other)".
   */
  readonly discover: Discover;
}

/** Counts, sums or means of events, for every key. θ is chosen once, from the events of all keys. */
export interface StreamMetric extends Omit<EventStreamOptions, "name" | "clock" | "zone">, Keyed {}

/** Counts per bucket and percentiles of events, for every key. */
export interface HistogramMetric extends Omit<HistogramOptions, "name" | "clock" | "zone">, Keyed {}

/** Different people, for every key. */
export interface PeopleMetric extends Omit<PeopleOptions, "name" | "clock" | "zone">, Keyed {}

export type Metric = StreamMetric | HistogramMetric | PeopleMetric;

/** A section of the state that the caller keeps, stored with the hub: it takes reports of devices. */
export interface HubSection {
  /** Unique in its hub. Public. */
  readonly name: string;
  /**
   * Takes a report of 8 bytes, which is stored. After a restart, reports that its stored state lacks come again.
   * @param at when it was stored, in milliseconds since 1970
   */
  take(report: Uint8Array, at: number): void;
  /** The state of this moment. */
  save(): Uint8Array;
  /**
   * Throws if the hub must not be opened as it is; nothing has changed then. Default: nothing is refused.
   * @param state the newest state that was stored by itself: reports that came after it are not in it
   * @param begun whether the store has the hub
   */
  check?(state: Uint8Array | undefined, begun: boolean): void;
  /** Resumes from what `save` gave, or begins anew if the store has nothing. After a failure of the store it comes again. */
  load(state: Uint8Array | undefined): void | Promise<void>;
  /** Whether the section must be in the next commit. */
  readonly urgent?: boolean;
  /** Told that the section's newest state is stored. */
  stored?(): void;
}

export interface EventHubOptions<M extends Record<string, Metric> = Record<string, Metric>> {
  /** Metrics by name. Each metric is a release of its own with its own ε. */
  readonly metrics: M;
  /** Whose hours and days: an IANA name such as "Europe/Berlin". Default "UTC". Bound in the state of the hub. Public. */
  readonly zone?: string;
  /** Names the records of this hub in its store. Default "events". Public. */
  readonly name?: string;
  /** A durable store. Default: none; the hub then lives as long as the process. */
  readonly store?: Store;
  /** Encrypts what is stored; as secret as the data. Needed with a store. */
  readonly key?: SnapshotKey;
  /** Milliseconds between two commits, at least. All events in between are stored together. Default 50. */
  readonly commitEvery?: number;
  /** The lowest `sequence` that the store may have: it refuses a store that was rolled back. Default 0: no check. */
  readonly atLeast?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Says that a clock more than an hour after the newest stored time is right. Default false: it is refused. */
  readonly confirmClock?: boolean;
  /** The odometer that every metric is charged to, and the data. */
  readonly budget?: Budget;
  /** This process alone writes: another one that opens the hub ends this one. Default false: they take turns. */
  readonly exclusive?: boolean;
  /** How many events may wait for a commit, and how many reports. More are refused with code "busy". Default 1,000,000. */
  readonly waiting?: { readonly events?: number; readonly reports?: number };
  /** How long the ids of requests are known. Default "10m". */
  readonly remember?: Duration;
  /** Sections of the state that take reports of devices. */
  readonly sections?: readonly HubSection[];
  /** Told which periods are published, after they are stored. */
  readonly onPublished?: (closed: readonly ClosedSpan[]) => void;
}

export interface MetricSettings {
  readonly keys: KeyRule;
  readonly events: EventSettings;
}

export interface EventHubSettings {
  readonly name: string;
  readonly metrics: ReadonlyMap<string, MetricSettings>;
  readonly calendar: Calendar;
  readonly store: CheckedStore | undefined;
  readonly key: SnapshotKey;
  readonly commitEvery: number;
  readonly atLeast: number;
  readonly clock: () => number;
  readonly confirmClock: boolean;
  readonly budget: Budget | undefined;
  readonly exclusive: boolean;
  readonly waiting: { readonly events: number; readonly reports: number };
  readonly remember: number;
  readonly sections: readonly HubSection[];
  readonly onPublished: (closed: readonly ClosedSpan[]) => void;
}

const HUB_OPTIONS: readonly string[] = [
  ...["metrics", "zone", "name", "store", "key", "commitEvery", "atLeast", "clock", "confirmClock", "budget"],
  ...["exclusive", "waiting", "remember", "sections", "onPublished"],
];
const MOST_METRICS = 1024;
const MOST_WAITING = 1_000_000;
const METRIC_NAME = /^[\w.-]{1,100}$/;

export function resolveEventHub(asked: EventHubOptions): EventHubSettings {
  const own = ownOptions("openHub", asked, HUB_OPTIONS);
  const { name = "events", store, key, commitEvery = 50, atLeast = 0, budget, sections = [] } = own;
  const { zone = "UTC", clock = Date.now, onPublished = () => undefined } = own;
  checkText("name", name);
  for (const [option, value] of Object.entries({ clock, onPublished }))
    if (typeof value !== "function")
      throw new TypeError(`${option}: expected a function, got a value of type ${typeof value}`);
  if (store !== undefined && key === undefined)
    throw new TypeError("key: expected 32 bytes or a CryptoKey for what is stored, got none");
  const checked = store === undefined ? undefined : new CheckedStore(store);
  if (checked?.durable === false)
    throw new TypeError(
      "store: expected a durable store, or none for a hub that lives as long as the process",
    );
  const calendar = new Calendar(zone);
  const waiting = ownOptions("waiting", own.waiting ?? {}, ["events", "reports"]);
  return {
    name,
    metrics: resolveMetrics(own.metrics, clock, calendar, sections.length > 0 ? 0 : 1),
    calendar,
    store: checked,
    key: key === undefined ? crypto.getRandomValues(new Uint8Array(32)) : key,
    commitEvery: checkInteger("commitEvery", commitEvery, 0, 60_000),
    atLeast: checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER),
    clock,
    confirmClock: own.confirmClock === true,
    budget,
    exclusive: own.exclusive === true,
    waiting: {
      events: checkInteger("waiting.events", waiting.events ?? MOST_WAITING, 1, 2 ** 31),
      reports: checkInteger("waiting.reports", waiting.reports ?? MOST_WAITING, 1, 2 ** 31),
    },
    remember: parseDuration("remember", own.remember ?? "10m"),
    sections: [...sections],
    onPublished,
  };
}

function resolveMetrics(
  metrics: unknown,
  clock: () => number,
  calendar: Calendar,
  least: number,
): Map<string, MetricSettings> {
  if (typeof metrics !== "object" || metrics === null)
    throw new TypeError(
      `metrics: expected an object of metrics by name, got a value of type ${typeof metrics}`,
    );
  const names = Object.keys(metrics);
  if (names.length < least || names.length > MOST_METRICS)
    throw new RangeError(`metrics: expected ${least} to ${MOST_METRICS} of them, got ${names.length}`);
  const resolved = new Map(
    names.map((name) => [
      name,
      resolveMetric(name, (metrics as Record<string, Metric>)[name]!, clock, calendar),
    ]),
  );
  const discovering = names.filter((name) => resolved.get(name)!.events.discovery !== undefined);
  if (discovering.length > 1)
    throw new TypeError(
      `metrics.${discovering[1]}.keys.discover: expected one metric of a hub that discovers keys, got ${discovering.join(" and ")}; list what ${discovering[0]} has found, or open another hub: each discovery costs ε and δ of its own`,
    );
  return resolved;
}

function resolveMetric(name: string, asked: Metric, clock: () => number, calendar: Calendar): MetricSettings {
  if (!METRIC_NAME.test(name))
    throw new RangeError(
      `metrics: expected names of letters, digits, ".", "_" and "-", got ${JSON.stringify(name.slice(0, 40))}`,
    );
  const call = `metrics.${name}`;
  if (typeof asked !== "object" || (asked as unknown) === null)
    throw new TypeError(`${call}: expected an object of options, got ${shown(asked)}`);
  const { keys, ...options } = asked;
  if (Object.hasOwn(options, "zone"))
    throw new TypeError(`${call}.zone: expected none; a hub has one zone, give it beside metrics`);
  const names = optionsOf(options).filter((option) => !["name", "clock", "zone"].includes(option));
  const resolved = resolveEvents({ ...options, name, clock });
  ownOptions(call, options, names);
  if (keys === undefined || !Object.hasOwn(asked, "keys"))
    throw new TypeError(
      `${call}.keys: expected a list of keys or a public rule, got none; keys that appear with their first event are not protected`,
    );
  const { distinct } = resolved;
  const own = distinct === undefined ? calendar : calendarOver(calendar, distinct.over);
  const events = { ...resolved, schedule: { ...resolved.schedule, calendar: own } };
  const { rule, discover } = resolveKeys(given({ keys }, ["keys"]).keys!, `${call}.keys`);
  if (eventKind(options) === "people" && distinct!.keys === undefined && rule.list?.length !== 1)
    throw new TypeError(
      `${call}.keysPerPerson: expected under how many keys a person counts, got none; give it, 1 if a person has one key`,
    );
  return {
    keys: rule,
    events: discover === undefined ? events : withDiscovery(events, discover, `${call}.keys.discover`),
  };
}

/** A list, a rule, or keys that votes make public, which have one more: for events of all others. */
function resolveKeys(
  keys: Metric["keys"],
  call: string,
): { readonly rule: KeyRule; readonly discover: Discover | undefined } {
  if (typeof keys !== "object" || (keys as object | null) === null || Symbol.iterator in keys)
    return { rule: keyRule(keys as Iterable<string>, call), discover: undefined };
  const own = ownOptions(call, keys, ["listed", "discover"]);
  if (own.discover === undefined)
    throw new TypeError(`${call}.discover: expected options such as { delta: 1e-9 }, got none`);
  const listed = keyRule(own.listed ?? [], `${call}.listed`).list;
  if (listed === undefined) throw new TypeError(`${call}.listed: expected a list of names, got a function`);
  if (listed.includes(OTHER_KEYS))
    throw new RangeError(`${call}.listed: expected names other than ${OTHER_KEYS}, which is reserved`);
  return { rule: keyRule([OTHER_KEYS, ...listed]), discover: own.discover };
}
