/** The service without HTTP: a hub of events, opened as a config describes it. */
import { Refusal } from "brume/node";
import {
  type ClosedSpan,
  type Duration,
  type EventAnswer,
  type EventHub,
  type EventHubOptions,
  type EventHubStats,
  type EventStatement,
  type HistogramAnswer,
  type HistogramQuery,
  type MetricEvent,
  openHub,
  type SectionReports,
  type Series,
  type Store,
} from "brume";
import { setTimeout as sleep } from "node:timers/promises";
import { Clock, type ClockSource } from "./clock.js";
import { milliseconds } from "./config/duration.js";
import { isCounted, type Metric, metricsOf } from "./config/metrics.js";
import { readKey } from "./config/secrets.js";
import type { Config } from "./config/types.js";
import { DayBudget, type SettingsChange, type Spending } from "./dayBudget.js";
import { ImportRecord } from "./import/importRecord.js";
import { LocalMetric } from "./localMetric.js";
import { Mark, markOf } from "./mark.js";
import { openStore } from "./stores.js";
import { bodyOf, Busy, type CheckedEvent, hashOf, KeyReused, Unavailable } from "./submission.js";
import {
  asRefusal,
  codeOf,
  IN_DOUBT,
  isStoreError,
  isTakenOver,
  TAKEN_OVER,
  TROUBLE,
  UNPAID,
} from "./trouble.js";
import { Turns } from "./turns.js";

export interface Limits {
  readonly body: number;
  readonly batch: number;
  readonly waiting: number;
  readonly perMinute: number;
  readonly commitEvery: number;
  readonly remember: number;
  /** Milliseconds that a request waits for the store. */
  readonly timeout: number;
}

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

/** A metric as the service has it. */
export interface ServedMetric {
  readonly metric: Metric;
  readonly local: LocalMetric | undefined;
}

/** Which part of the time a question is about. */
export type Question =
  | { readonly last: Duration }
  | { readonly from: number; readonly to: number }
  | { readonly from: number; readonly to: number; readonly every: string };

export type Answer = EventAnswer | HistogramAnswer;

/** Milliseconds between two attempts on a store that fails. */
const RETRY = 250;
/** Milliseconds between two looks at the budget, and two marks. */
const PULSE = 1000;
/** Milliseconds that a store has to take what is left when the service stops. */
const LAST_CHANCE = 8000;

export class Service {
  // Parameters
  readonly config: Config;
  readonly limits: Limits;
  readonly zone: string;
  readonly #metrics: Map<string, ServedMetric>;
  /** Where long work gets its turn, without holding up anything else. */
  readonly turns = new Turns();
  readonly hub: EventHub;
  readonly #clock: Clock;
  readonly #tell: (message: string) => void;
  readonly #budget: DayBudget;
  readonly #mark: Mark | undefined;
  readonly #closeStore: () => Promise<void>;
  // State
  readonly #listeners = new Set<(closed: ClosedSpan) => void>();
  /** How often each metric has published since this process began. */
  readonly #versions = new Map<string, number>();
  #storeTrouble: string | undefined;
  /** Why the next day could not be charged to the budget: no event of it is taken. */
  #unpaid: string | undefined;
  #ended: Error | undefined;
  /** The store is being asked whether another process has taken over. */
  #checking = false;
  #onEnd: ((reason: Error) => void) | undefined;
  /** Calls of the store that failed. */
  failures = 0;
  #pulse: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;
  /** The mark could not be written; it is told once. */
  #unmarked = false;

  private constructor(parts: Parts) {
    this.config = parts.config;
    this.limits = limitsOf(parts.config);
    this.zone = parts.config.zone ?? "UTC";
    this.#metrics = parts.metrics;
    this.hub = parts.hub;
    this.#clock = parts.clock;
    this.#tell = parts.tell;
    this.#budget = parts.budget;
    this.#mark = parts.mark;
    this.#closeStore = parts.close;
  }

  /** Closes periods as their time comes. */
  #start(): void {
    this.#pulse = setInterval(() => void this.#beat(), PULSE);
    this.#pulse.unref();
    this.hub.start(
      () => undefined,
      (error) => this.#fails(error),
    );
  }

  /** Opens the state, and continues where it stopped. */
  static async open(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const key = options.key ?? readKey(config.key);
    const given = options.store;
    const opened =
      given === undefined ? await openStore(config) : { store: given, close: () => Promise.resolve() };
    try {
      checkStore(opened.store);
      const mark = given === undefined ? markOf(config) : undefined;
      return await Service.#openHub(config, key, opened, mark, options);
    } catch (error) {
      await opened.close();
      throw asRefusal(error, given === undefined ? markOf(config) : undefined);
    }
  }

  static async #openHub(
    config: Config,
    key: Uint8Array,
    { store, close }: { readonly store: Store; readonly close: () => Promise<void> },
    mark: Mark | undefined,
    { clock: source, confirmClock = false, onTrouble: tell = () => undefined, past }: ServiceOptions,
  ): Promise<Service> {
    const atLeast = (await mark?.read()) ?? { rows: 0, budget: 0 };
    const { waiting, commitEvery, remember } = limitsOf(config);
    const clock = new Clock(source);
    const made: { service?: Service; budget?: DayBudget } = {}; // what the hub calls back, once it is there
    const metrics = servedMetrics(
      config,
      () => clock.now() ?? clock.time,
      (name) => void made.service?.storeSoon(name),
    );
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
      onPublished: (closed) => made.service?.publish(closed),
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
    const service = new Service({ config, metrics, hub, clock, tell, budget, mark, close });
    await service.#followKeys();
    Object.assign(made, { service, budget });
    if (past === undefined) service.#start();
    return service;
  }

  /** Keys of a metric that discovers them change when it publishes. */
  get metrics(): ReadonlyMap<string, ServedMetric> {
    return this.#metrics;
  }

  /** Takes up the keys that are public now. */
  async #followKeys(): Promise<void> {
    for (const [name, served] of this.#metrics)
      if (served.metric.discovers !== undefined) {
        const keys = await this.hub.keys(name);
        this.#metrics.set(name, { ...served, metric: { ...served.metric, keys } });
      }
  }

  metric(name: string): ServedMetric | undefined {
    return this.#metrics.get(name);
  }

  /** The time, as the service goes by it. */
  get now(): number {
    return this.#clock.now() ?? this.#clock.time;
  }

  /** Why nothing can be taken, if so. */
  get trouble(): string | undefined {
    return this.failure ?? this.#storeTrouble ?? this.#unpaid ?? this.#clockTrouble();
  }

  /** Why this service has ended, if so: only a new process can go on. */
  get failure(): string | undefined {
    return this.#ended?.message;
  }

  #clockTrouble(): string | undefined {
    if (this.#clock.now() === undefined)
      return "clock: the machine's clock jumped by more than a minute; set it right, or start the service again if it is right now";
    const { behind } = this.#clock;
    return behind < 60_000
      ? undefined
      : `clock: the machine's clock is ${Math.round(behind / 1000)} s behind the newest stored time; set it right, or wait`;
  }

  /** Calls back if this service ends by itself: another one took the state over, or the state is damaged. */
  onEnd(listener: (reason: Error) => void): void {
    this.#onEnd = listener;
    if (this.#ended !== undefined) listener(this.#ended);
  }

  /**
   * Takes events; resolves when they are stored. A repeated request key counts once.
   * @param reports for a section of the hub, stored in the same commit
   */
  submit(events: readonly CheckedEvent[], requestKey?: string, reports?: SectionReports): Promise<void> {
    const request =
      requestKey === undefined ? undefined : { id: `events\n${requestKey}`, body: bodyOf(events) };
    return this.#store(() => this.hub.addAll(events.flatMap(hubEvents), request, reports));
  }

  /** Takes packed reports of devices, 8 bytes each. */
  report({ metric }: ServedMetric, reports: Uint8Array, batch: string): Promise<void> {
    const each = Array.from({ length: reports.length / 8 }, (_, i) => reports.slice(8 * i, 8 * i + 8));
    // A header has no line break, so no sender of events can name a batch of reports.
    const request = { id: `reports\n${metric.name}\n${batch}`, body: hashOf(reports) };
    return this.#store(() => this.hub.report(metric.name, each, request));
  }

  /** Stores what a section has decided, without waiting for events. */
  storeSoon(section: string): Promise<void> {
    return this.#store(() => this.hub.report(section, [])).catch(() => undefined);
  }

  async #store(call: () => Promise<void>): Promise<void> {
    const { trouble } = this;
    if (trouble !== undefined) throw new Unavailable(trouble);
    try {
      await call();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "busy") throw new Busy();
      if (code === "request-conflict") throw new KeyReused();
      this.#fails(error);
      throw new Unavailable(this.failure ?? IN_DOUBT);
    }
  }

  /** One answer, as the library gives it. */
  async ask(
    metric: string,
    key: string,
    question: Question,
    query: HistogramQuery,
  ): Promise<Answer | Series<Answer>> {
    if (this.failure !== undefined) throw new Unavailable(this.failure);
    try {
      if ("last" in question) return await this.hub.last(metric, key, question.last, query);
      const { from, to } = question;
      return "every" in question
        ? await this.hub.series(metric, key, question.every, from, to, query)
        : await this.hub.between(metric, key, from, to, query);
    } catch (error) {
      throw this.#readFails(error);
    }
  }

  /** The statement of a metric. */
  statement({ name, keys }: Metric): Promise<EventStatement> {
    return this.hub.statement(name, keys[0]!).catch((error: unknown) => {
      throw this.#readFails(error);
    });
  }

  #readFails(error: unknown): unknown {
    if (!isStoreError(error) && this.#storeTrouble === undefined) return error;
    this.#fails(error);
    return new Unavailable(this.failure ?? TROUBLE);
  }

  /** The budget of a person in the running day of the zone, and how much of it is spent. */
  readonly budget = (): Spending => this.#budget.of(this.now);

  /** How settings that decide what a person spends have changed, newest first. */
  readonly settingsChanges = (): readonly SettingsChange[] => this.#budget.changes();

  /** Calls back with each range of time that is published. Returns how to stop it. */
  listen(listener: (closed: ClosedSpan) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells those who listen what was published. From now on an older state is refused. */
  publish(closed: readonly ClosedSpan[]): void {
    void this.#writeMark();
    void this.#followKeys()
      .catch(() => undefined) // the service has ended, or its store fails
      .then(() => this.#tellPublished(closed));
  }

  #tellPublished(closed: readonly ClosedSpan[]): void {
    for (const span of closed) {
      this.#versions.set(span.metric, this.version(span.metric) + 1);
      for (const listener of this.#listeners) listener(span);
    }
  }

  /** Rises when a metric publishes. */
  version(metric: string): number {
    return this.#versions.get(metric) ?? 1;
  }

  /** Closes the periods that are due, now. */
  async flush(): Promise<void> {
    await this.charge();
    try {
      await this.hub.advance();
    } catch (error) {
      this.#fails(error);
      throw error;
    }
  }

  /** At times that no event decides. */
  async #beat(): Promise<void> {
    await this.charge();
    if (this.trouble === undefined) await this.#writeMark();
    await this.#checkOwner();
  }

  /** Without events and far from the end of a period nothing is written: another process that took over would not be noticed. */
  async #checkOwner(): Promise<void> {
    if (this.#stopped !== undefined || this.#ended !== undefined || this.#checking) return;
    this.#checking = true; // a store that does not answer is asked once
    try {
      if (await this.hub.isOvertaken().catch(() => false)) await this.flush().catch(() => undefined);
    } finally {
      this.#checking = false;
    }
  }

  /** Charges the running day, and the next one before it begins. If that fails, `trouble` says why. */
  async charge(): Promise<void> {
    if (this.#ended !== undefined || this.#clock.now() === undefined) return;
    try {
      await this.#budget.charge(this.now);
      if (this.#unpaid !== undefined) this.#tell("budget: the day is charged");
      this.#unpaid = undefined;
    } catch (error) {
      const reason = error instanceof Refusal ? error.message : `${UNPAID} (${codeOf(error)})`;
      if (this.#unpaid !== reason) this.#tell(reason);
      this.#unpaid = reason;
    }
  }

  async #writeMark(): Promise<void> {
    if (this.#mark === undefined || this.#stopped !== undefined) return;
    try {
      await this.#mark.write({ rows: await this.hub.sequence(), budget: this.#budget.sequence });
    } catch (error) {
      if (isStoreError(error)) return this.#fails(error);
      if (!this.#unmarked) this.#tell(`mark: cannot write the file ${this.#mark.path} (${codeOf(error)})`);
      this.#unmarked = true;
    }
  }

  /** A call of the hub failed: the state in memory is gone, and is read from the store again. */
  #fails(error: unknown): void {
    if (this.#stopped !== undefined || this.#ended !== undefined) return;
    this.failures++;
    const code = codeOf(error);
    if (isTakenOver(error)) return this.#end(new Refusal(TAKEN_OVER, { cause: error }));
    if ((error as { code?: unknown } | undefined)?.code === "rolled-back")
      return this.#end(new Refusal((error as Error).message, { cause: error }));
    if (this.#storeTrouble !== undefined) return;
    this.#storeTrouble = TROUBLE;
    this.#tell(`${TROUBLE} (${code})`);
    void this.#recover();
  }

  async #recover(): Promise<void> {
    while (this.#ended === undefined && this.#stopped === undefined) {
      await sleep(RETRY);
      try {
        await this.hub.advance();
        this.#storeTrouble = undefined;
        return this.#tell("store: recovered");
      } catch (error) {
        this.#fails(error);
      }
    }
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    clearInterval(this.#pulse);
    this.#onEnd?.(reason);
  }

  /** Takes nothing more, stores everything, and ends. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    clearInterval(this.#pulse);
    // If it fails, rows of the journal have everything.
    const stored = this.hub
      .close()
      .then(() => this.hub.sequence())
      .catch(() => undefined);
    const late = new AbortController();
    const rows = await Promise.race([
      stored,
      sleep(LAST_CHANCE, undefined, { signal: late.signal }), // keeps the process: one that ends here has no exit code of its own
    ]);
    late.abort();
    this.#ended ??= new Unavailable("the service stops");
    if (rows !== undefined)
      await this.#mark?.write({ rows, budget: this.#budget.sequence }).catch(() => undefined);
    await this.#closeStore();
  }
}

interface Parts {
  readonly config: Config;
  readonly metrics: Map<string, ServedMetric>;
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly tell: (message: string) => void;
  readonly budget: DayBudget;
  readonly mark: Mark | undefined;
  readonly close: () => Promise<void>;
}

function servedMetrics(
  config: Config,
  now: () => number,
  onChosen: (name: string) => void,
): Map<string, ServedMetric> {
  return new Map(
    metricsOf(config).map((metric) => {
      const { name } = metric;
      const local =
        metric.local === undefined
          ? undefined
          : new LocalMetric(metric, config.zone ?? "UTC", now, () => onChosen(name));
      return [name, { metric, local }];
    }),
  );
}

function hubMetrics(metrics: ReadonlyMap<string, ServedMetric>): EventHubOptions["metrics"] {
  return Object.fromEntries(
    [...metrics.values()].flatMap(({ metric: { name, options, keys, discovers } }) =>
      options === undefined ? [] : [[name, { ...options, keys: discovers ?? keys }]],
    ),
  );
}

/** The time that periods are closed at, of metrics that have closed one. Of those that were passed over, it may lie ahead. */
async function newestTime(
  hub: EventHub,
  metrics: ReadonlyMap<string, ServedMetric>,
  stats: EventHubStats,
): Promise<number> {
  let newest = -Infinity;
  for (const [name, { closedTo }] of Object.entries(stats.metrics)) {
    const { keys, lateness } = metrics.get(name)!.metric;
    const { firstNumber } = await hub.statement(name, keys[0]!);
    if (closedTo + lateness >= Date.parse(firstNumber)) newest = Math.max(newest, closedTo + lateness);
  }
  return Math.min(newest, stats.told);
}

/** As many as it stands for. */
function hubEvents({ metric, key, value, count, at, person }: CheckedEvent): MetricEvent[] {
  const { name, type } = metric.metric;
  const event: MetricEvent = {
    metric: name,
    key,
    ...(isCounted(type) ? {} : { value }),
    ...(at === undefined ? {} : { at }),
    ...(person === undefined ? {} : { person }),
  };
  return count === 1 ? [event] : Array<MetricEvent>(count).fill(event);
}

export function limitsOf({ limits = {} }: Config): Limits {
  return {
    body: limits.body ?? 1 << 20,
    batch: limits.batch ?? 2500,
    waiting: limits.waiting ?? 200_000,
    perMinute: limits.perMinute ?? 60_000,
    commitEvery: limits.commitEvery ?? 20,
    remember: milliseconds(limits.remember ?? "10m"),
    timeout: 10_000,
  };
}

function checkStore(store: Store): void {
  if (store.putMany === undefined)
    throw new Refusal(
      "store: expected one with putMany, which stores several parts in one call; take another one",
    );
}
