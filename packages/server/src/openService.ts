/** Opens what a service consists of, as its config describes it: the store, the hub, the budget and the mark. */
import { type ClosedSpan, type EventHub, type EventHubStats, openHub, type Store } from "brume";
import { Refusal } from "brume/node";
import { Clock, type ClockSource } from "./clock.js";
import { limitsOf } from "./config/limits.js";
import { readKey } from "./config/secrets.js";
import type { Config } from "./config/types.js";
import { DayBudget } from "./dayBudget.js";
import { asRefusal, codeOf } from "./health.js";
import { ImportRecord } from "./import/importRecord.js";
import { type Mark, markOf } from "./mark.js";
import { followKeys, hubMetrics, type ServedMetric, servedMetrics } from "./servedMetrics.js";
import { openStore } from "./stores.js";

export interface ServiceOptions {
  /** In place of the config's store: any durable store with `putMany`. It has no high-water mark beside it. */
  readonly store?: Store;
  /** In place of the config's key: 32 bytes. */
  readonly key?: Uint8Array;
  readonly clock?: ClockSource;
  /** Says that a clock more than an hour after the newest stored time is right. Default false: it is refused. */
  readonly confirmClock?: boolean;
  /** Told what an operator must know; no message holds private data. */
  readonly onTrouble?: (message: string) => void;
  /** A log that the past is filled from. Time then passes as the log says: periods are closed by `flush` alone. */
  readonly past?: ImportRecord;
}

/** Objects that a service consists of. */
export interface OpenedService {
  readonly metrics: Map<string, ServedMetric>;
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly budget: DayBudget;
  readonly mark: Mark | undefined;
  readonly closeStore: () => Promise<void>;
}

/** Messages of a hub to its service. */
export interface CallBack {
  readonly publish: (closed: readonly ClosedSpan[]) => void;
  /** A metric of devices has chosen θ, which is to be stored. */
  readonly storeSoon: (name: string) => void;
}

/** Opens the state, and continues where it stopped. */
export async function openService(
  config: Config,
  options: ServiceOptions,
  callBack: CallBack,
): Promise<OpenedService> {
  const key = options.key ?? readKey(config.key);
  const given = options.store;
  const opened =
    given === undefined ? await openStore(config) : { store: given, close: () => Promise.resolve() };
  const mark = given === undefined ? markOf(config) : undefined;
  try {
    checkStore(opened.store);
    const own = await openOn(config, key, opened.store, mark, options, callBack);
    return { ...own, mark, closeStore: opened.close };
  } catch (error) {
    await opened.close();
    throw asRefusal(error, mark);
  }
}

async function openOn(
  config: Config,
  key: Uint8Array,
  store: Store,
  mark: Mark | undefined,
  { clock: source, confirmClock = false, past }: ServiceOptions,
  callBack: CallBack,
): Promise<Omit<OpenedService, "mark" | "closeStore">> {
  const atLeast = (await mark?.read()) ?? { rows: 0, budget: 0 };
  const { waiting, commitEvery, remember } = limitsOf(config);
  const clock = new Clock(source);
  const made: { budget?: DayBudget } = {}; // what the hub's clock asks, once it is there
  const metrics = servedMetrics(config, () => clock.now() ?? clock.time, callBack.storeSoon);
  const hub: EventHub = openHub({
    metrics: hubMetrics(metrics),
    zone: config.zone ?? "UTC",
    name: "service",
    store,
    key,
    commitEvery,
    remember,
    atLeast: atLeast.rows,
    confirmClock,
    exclusive: true,
    waiting: { events: waiting, reports: waiting },
    sections: [...[...metrics.values()].flatMap(({ local }) => local ?? []), past ?? new ImportRecord()],
    // No time passes that is not paid for: nothing of an uncharged day is published.
    clock: () => {
      const now = clock.now() ?? clock.time;
      return Math.min(now, made.budget?.paidUntil ?? Infinity);
    },
    onPublished: callBack.publish,
  });
  const stats = await hub.stats(); // of two services that start together, one is refused here
  clock.startAfter(await newestTime(hub, metrics, stats));
  const budget = await DayBudget.open(config, store, key, atLeast.budget);
  await budget.charge(clock.time); // before anything is published, and after the clock was checked
  await mark?.write({ rows: await hub.sequence(), budget: budget.sequence }).catch((cause: unknown) => {
    throw new Refusal(
      `mark: cannot write the file ${mark.path} (${codeOf(cause)}); let this user write there, or set mark to another place`,
      { cause },
    );
  });
  await followKeys(metrics, hub);
  made.budget = budget;
  return { metrics, hub, clock, budget };
}

/** The time that periods are closed at, of metrics that have closed one. Of those that were passed over, it may lie ahead. */
async function newestTime(
  hub: EventHub,
  metrics: ReadonlyMap<string, ServedMetric>,
  stats: EventHubStats,
): Promise<number> {
  let newest = -Infinity;
  for (const [name, { closedTo }] of Object.entries(stats.metrics)) {
    const { keys, lateness } = metrics.get(name)!.config;
    const { firstNumber } = await hub.statement(name, keys[0]!);
    if (closedTo + lateness >= Date.parse(firstNumber)) newest = Math.max(newest, closedTo + lateness);
  }
  return Math.min(newest, stats.told);
}

function checkStore(store: Store): void {
  if (store.putMany === undefined)
    throw new Refusal(
      "store: expected one with putMany, which stores several sections in one call; take another one",
    );
}
