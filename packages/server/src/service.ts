/** The service without HTTP: a hub of events, opened as a config describes it. */
import type {
  ClosedSpan,
  Duration,
  EventAnswer,
  EventHub,
  EventStatement,
  HistogramAnswer,
  HistogramQuery,
  MetricEvent,
  SectionReports,
  Series,
} from "brume";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "./clock.js";
import { type Limits, limitsOf } from "./config/limits.js";
import { isCounted, type ResolvedMetric } from "./config/metrics.js";
import type { Config } from "./config/types.js";
import type { DayBudget, SettingsChange, Spending } from "./dayBudget.js";
import { codeOf, Health, isStoreError } from "./health.js";
import type { Mark } from "./mark.js";
import { type OpenedService, openService, type ServiceOptions } from "./openService.js";
import { followKeys, type ServedMetric } from "./servedMetrics.js";
import { fingerprintOf, Busy, type CheckedEvent, hashOf, KeyReused, Unavailable } from "./submission.js";
import { WorkTurns } from "./workTurns.js";

/** Which part of the time a question is about. */
export type Question =
  | { readonly last: Duration }
  | { readonly from: number; readonly to: number }
  | { readonly from: number; readonly to: number; readonly every: string };

export type Answer = EventAnswer | HistogramAnswer;

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
  readonly turns = new WorkTurns();
  readonly hub: EventHub;
  readonly #clock: Clock;
  readonly #tell: (message: string) => void;
  readonly #health: Health;
  readonly #budget: DayBudget;
  readonly #mark: Mark | undefined;
  readonly #closeStore: () => Promise<void>;
  // State
  readonly #listeners = new Set<(closed: ClosedSpan) => void>();
  /** How often each metric has published since this process began. */
  readonly #versions = new Map<string, number>();
  /** The store is being asked whether another process has taken over. */
  #checking = false;
  #pulse: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;
  /** The mark could not be written; it is told once. */
  #unmarked = false;

  private constructor(config: Config, opened: OpenedService, tell: (message: string) => void) {
    this.config = config;
    this.limits = limitsOf(config);
    this.zone = config.zone ?? "UTC";
    this.#metrics = opened.metrics;
    this.hub = opened.hub;
    this.#clock = opened.clock;
    this.#tell = tell;
    this.#budget = opened.budget;
    this.#mark = opened.mark;
    this.#closeStore = opened.closeStore;
    this.#health = new Health(opened.clock, tell, () => opened.hub.advance());
  }

  /** Closes periods as their time comes. */
  #start(): void {
    this.#pulse = setInterval(() => void this.#beat(), PULSE);
    this.#pulse.unref();
    this.hub.start(
      () => undefined,
      (error) => this.#health.fails(error),
    );
  }

  /** Opens the state, and continues where it stopped. */
  static async open(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const made: { service?: Service } = {}; // what the hub calls back, once it is there
    const opened = await openService(config, options, {
      publish: (closed) => made.service?.publish(closed),
      storeSoon: (name) => void made.service?.storeSoon(name),
    });
    const service = (made.service = new Service(config, opened, options.onTrouble ?? (() => undefined)));
    if (options.past === undefined) service.#start();
    return service;
  }

  /** Keys of a metric that discovers them change when it publishes. */
  get metrics(): ReadonlyMap<string, ServedMetric> {
    return this.#metrics;
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
    return this.#health.trouble;
  }

  /** Why this service has ended, if so: only a new process can go on. */
  get failure(): string | undefined {
    return this.#health.failure;
  }

  /** Calls of the store that failed. */
  get failures(): number {
    return this.#health.failures;
  }

  /** Calls back if this service ends by itself: another one took the state over, or the state is damaged. */
  onEnd(listener: (reason: Error) => void): void {
    this.#health.onEnd(listener);
  }

  /**
   * Takes events; resolves when they are stored. A repeated request key counts once.
   * @param reports for a section of the hub, stored in the same commit
   */
  submit(events: readonly CheckedEvent[], requestKey?: string, reports?: SectionReports): Promise<void> {
    const request =
      requestKey === undefined ? undefined : { id: `events\n${requestKey}`, body: fingerprintOf(events) };
    return this.#store(() => this.hub.addAll(events.flatMap(hubEvents), request, reports));
  }

  /** Takes packed reports of devices, 8 bytes each. */
  report({ config: metric }: ServedMetric, reports: Uint8Array, batch: string): Promise<void> {
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
      throw this.#health.storeFails(error);
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
      throw this.#health.readFails(error);
    }
  }

  /** The statement of a metric. */
  statement({ name, keys }: ResolvedMetric): Promise<EventStatement> {
    return this.hub.statement(name, keys[0]!).catch((error: unknown) => {
      throw this.#health.readFails(error);
    });
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
    void followKeys(this.#metrics, this.hub)
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
      this.#health.fails(error);
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
    if (this.#health.isOver || this.#checking) return;
    this.#checking = true; // a store that does not answer is asked once
    try {
      if (await this.hub.isOvertaken().catch(() => false)) await this.flush().catch(() => undefined);
    } finally {
      this.#checking = false;
    }
  }

  /** Charges the running day, and the next one before it begins. If that fails, `trouble` says why. */
  async charge(): Promise<void> {
    if (this.failure !== undefined || this.#clock.now() === undefined) return;
    try {
      await this.#budget.charge(this.now);
      this.#health.paid();
    } catch (error) {
      this.#health.payFails(error);
    }
  }

  async #writeMark(): Promise<void> {
    if (this.#mark === undefined || this.#stopped !== undefined) return;
    try {
      await this.#mark.write({ rows: await this.hub.sequence(), budget: this.#budget.sequence });
    } catch (error) {
      if (isStoreError(error)) return this.#health.fails(error);
      if (!this.#unmarked) this.#tell(`mark: cannot write the file ${this.#mark.path} (${codeOf(error)})`);
      this.#unmarked = true;
    }
  }

  /** Takes nothing more, stores everything, and ends. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#health.stop();
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
    this.#health.stopped();
    if (rows !== undefined)
      await this.#mark?.write({ rows, budget: this.#budget.sequence }).catch(() => undefined);
    await this.#closeStore();
  }
}

/** As many as it stands for. */
function hubEvents({ metric, key, value, count, at, person }: CheckedEvent): MetricEvent[] {
  const { name, type } = metric.config;
  const event: MetricEvent = {
    metric: name,
    key,
    ...(isCounted(type) ? {} : { value }),
    ...(at === undefined ? {} : { at }),
    ...(person === undefined ? {} : { person }),
  };
  return count === 1 ? [event] : Array<MetricEvent>(count).fill(event);
}
