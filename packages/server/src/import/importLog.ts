/**
 * Fills the past of a new service from a log. The time of the log is the clock: events are taken in its order, through the
 * same limits and budgets as those that come over HTTP, and periods are closed as their time passes. At the end the service
 * goes over to the present: what lies between has no numbers.
 */
import { DAY, HOUR, Refusal } from "brume/node";
import { createHash } from "node:crypto";
import { type ClockSource, MACHINE } from "../clock.js";
import { isCounted, type ResolvedMetric, metricsOf } from "../config/metrics.js";
import type { Config } from "../config/types.js";
import { Service } from "../service.js";
import type { ServiceOptions } from "../openService.js";
import type { CheckedEvent } from "../submission.js";
import { ZoneDays } from "../zoneDays.js";
import { ImportRecord } from "./importRecord.js";
import { CHANGED, type LogEvent, TimeOrder } from "./timeOrder.js";

/** Which fields the events of a metric have. */
export interface EventFields {
  readonly key: boolean;
  readonly value: boolean;
  readonly person: boolean;
}

/** A file with a row per event or more. It is read several times. */
export interface Log {
  /** SHA-256 of all its bytes. */
  digest(): Promise<Uint8Array>;
  /** Whether its size and its time are those of the first look at it. */
  isUnchanged(): Promise<boolean>;
  /** Names how rows are read: columns, units, metrics. */
  readonly reading: string;
  /** Events in the order of the file. Throws if a row makes no sense; the message quotes nothing of it. */
  events(metrics: ReadonlyMap<string, EventFields>): AsyncIterable<LogEvent>;
}

export interface ImportOptions extends ServiceOptions {
  /** The first period starts then, and the last one ends: milliseconds since 1970. Public: those of events are not. */
  readonly from: number;
  readonly to: number;
  /** Bytes of events that are held to bring them into the order of time. Default 512 MB. */
  readonly memory?: number;
}

const LONGEST = 3660 * DAY;
/** Events of a commit. */
const BATCH = 2000;
const LONGEST_TEXT = 4096;

/** Resolves when the past is stored and the service may be opened. Called again after a kill, it goes on where it was. */
export async function importLog(config: Config, log: Log, options: ImportOptions): Promise<void> {
  const { from, to, clock: present = MACHINE } = options;
  checkTimes(from, to, present.wall());
  const past = withoutDevices(config);
  const metrics = metricsOf(past);
  const fields = new Map(metrics.map((metric) => [metric.name, fieldsOf(metric)]));
  const digest = await log.digest();
  const read = (): AsyncIterable<LogEvent> => checked(log.events(fields));
  const order = await TimeOrder.of(read, from, to, options.memory);
  const record = new ImportRecord(idOf(past, log, digest, from, to));
  const clock = new LogClock(from);
  const service = await Service.open(past, { ...options, clock, past: record });
  try {
    const run = new Import(service, record, clock, log, to);
    if (!record.hasEnded) await run.take(order.events(read, record.position));
    if (!isEqual(await log.digest(), digest)) throw new Refusal(CHANGED);
    if (!record.hasEnded) await run.end(present.wall());
  } finally {
    await service.stop();
  }
}

/** One log on its way into a service. */
class Import {
  // Parameters
  readonly #service: Service;
  readonly #record: ImportRecord;
  readonly #clock: LogClock;
  readonly #log: Log;
  readonly #to: number;
  readonly #most: number;
  /** Milliseconds between two closings: few periods are open at a time. */
  readonly #step: number;
  readonly #lateness: number;
  readonly #days: ZoneDays;
  // State
  #taken: number;
  #batch: CheckedEvent[] = [];
  /** Periods are closed when the log reaches this time. */
  #next: number;

  constructor(service: Service, record: ImportRecord, clock: LogClock, log: Log, to: number) {
    this.#service = service;
    this.#record = record;
    this.#clock = clock;
    this.#log = log;
    this.#to = to;
    this.#most = Math.min(BATCH, service.limits.waiting);
    this.#taken = record.position;
    clock.goTo(service.now); // a service that goes on has closed periods before
    const metrics = Array.from(service.metrics.values(), ({ config: metric }) => metric);
    this.#step = Math.min(...metrics.map(({ every }) => every)) < HOUR ? HOUR : 6 * HOUR;
    this.#lateness = Math.max(...metrics.map(({ lateness }) => lateness));
    this.#days = new ZoneDays(service.zone);
    this.#next = this.#closingAfter(service.now);
  }

  async take(events: AsyncIterable<LogEvent>): Promise<void> {
    for await (const event of events) {
      if (event.at >= this.#next) await this.#closeTo(event.at);
      this.#batch.push(this.#checkedEvent(event));
      if (this.#batch.length >= this.#most) await this.#send();
    }
    await this.#closeTo(this.#to);
  }

  #checkedEvent({ metric, key, value, at, person }: LogEvent): CheckedEvent {
    return { metric: this.#service.metric(metric)!, key, value: value ?? 1, count: 1, at, person };
  }

  /** Stores what waits, and its position in the same commit. */
  async #send(): Promise<void> {
    const events = this.#batch;
    this.#batch = [];
    if (events.length === 0) return;
    this.#clock.goTo(events.at(-1)!.at!);
    await this.#pay();
    if (!(await this.#log.isUnchanged())) throw new Refusal(CHANGED);
    this.#taken += events.length;
    await this.#store(() => this.#service.submit(events, undefined, this.#record.reports(this.#taken)));
  }

  /** The next step, or the moment at which all of a day is due, if that is sooner: a hold-out ends then. */
  #closingAfter(time: number): number {
    const step = (Math.floor(time / this.#step) + 1) * this.#step;
    return Math.min(step, this.#days.endOf(time - this.#lateness) + this.#lateness);
  }

  /** Step by step, so that each day is charged before its first number, whether or not it has events. */
  async #closeTo(time: number): Promise<void> {
    await this.#send();
    for (; this.#next <= time; this.#next = this.#closingAfter(this.#next)) {
      this.#clock.goTo(this.#next);
      await this.#pay();
      // A closed day is stored in parts, some with each commit; not even a long log piles them up.
      do await this.#store(() => this.#service.flush());
      while ((await this.#service.hub.stats()).unstored > 0);
    }
  }

  /** The periods up to the end are published, and the service begins to listen. */
  async end(now: number): Promise<void> {
    this.#clock.goTo(Math.max(now, this.#service.now));
    await this.#pay();
    await this.#store(() => this.#service.hub.endPast(this.#to, this.#service.now, this.#record.end));
  }

  /** No time passes that is not paid for. */
  async #pay(): Promise<void> {
    await this.#service.charge();
    const { trouble } = this.#service;
    if (trouble !== undefined) throw new Refusal(`${trouble}. ${GO_ON}`);
  }

  async #store(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      throw new Refusal(`import: the store failed. ${GO_ON}`, { cause });
    }
  }
}

const GO_ON = "What was taken is stored: run the same command again, and the import goes on";

/** The time of the log, which passes as its events are taken. */
class LogClock implements ClockSource {
  #time: number;

  constructor(time: number) {
    this.#time = time;
  }

  goTo(time: number): void {
    this.#time = Math.max(this.#time, time);
  }

  wall = (): number => this.#time;
  steady = (): number => this.#time;
}

function checkTimes(from: number, to: number, now: number): void {
  const text = (time: number): string => new Date(time).toISOString();
  if (!(from < to))
    throw new Refusal(
      `--to: expected a time after --from ${text(from)}, got ${text(to)}; correct one of them`,
    );
  if (to > now)
    throw new Refusal(
      `--to: expected a time that has passed, got ${text(to)}, and it is ${text(now)}; an import fills the past alone`,
    );
  if (to - from > LONGEST)
    throw new Refusal(
      `--from: expected at most ${LONGEST / DAY} days before --to, got ${text(from)}; give a later time`,
    );
}

/** Reports of devices have no past. */
function withoutDevices(config: Config): Config {
  const metrics = Object.fromEntries(
    Object.entries(config.metrics).filter(([, { type }]) => type !== "local"),
  );
  if (Object.keys(metrics).length === 0)
    throw new Refusal(
      "import: expected a config with a metric that takes events, got none but of type local",
    );
  return { ...config, metrics, limits: { ...config.limits, commitEvery: 0 } };
}

const fieldsOf = ({ type, hasKeys, perPerson }: ResolvedMetric): EventFields => ({
  ...{ key: hasKeys, value: !isCounted(type), person: perPerson !== undefined },
});

/** The identity of an import: other bytes, another way to read them, other times or other metrics are another one. */
function idOf(config: Config, { reading }: Log, digest: Uint8Array, from: number, to: number): Uint8Array {
  const { zone = "UTC", metrics, epsilon } = config;
  const parts = [Buffer.from(digest).toString("base64"), reading, from, to, zone, epsilon, metrics];
  return new Uint8Array(createHash("sha256").update(JSON.stringify(parts)).digest());
}

/** A row that the hub would refuse is found before anything is taken. */
async function* checked(events: AsyncIterable<LogEvent>): AsyncGenerator<LogEvent> {
  for await (const event of events) {
    if (event.key.length > LONGEST_TEXT || (event.person?.length ?? 0) > LONGEST_TEXT)
      throw new Refusal(
        `import: expected keys and ids of at most ${LONGEST_TEXT} characters, got a longer one; check the columns of --group-by and --person`,
      );
    yield event;
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
