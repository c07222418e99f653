/** The service without HTTP: what a config describes, opened. */
import { type EventAnswer, type HistogramAnswer, type Odometer, openOdometer, type Store } from "brume";
import { milliseconds } from "./config/duration.js";
import { type Metric, metricsOf, personEpsilon } from "./config/metrics.js";
import { readKey } from "./config/secrets.js";
import type { Config } from "./config/types.js";
import type { ClockSource } from "./engine/clock.js";
import { Engine } from "./engine/engine.js";
import { Sealer } from "./engine/seal.js";
import type { Published } from "./engine/stream.js";
import { Refusal } from "./refusal.js";
import { openStore } from "./stores.js";

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
  /** In place of the config's store: any durable store with `putMany`. */
  readonly store?: Store;
  /** In place of the config's key: 32 bytes. */
  readonly key?: Uint8Array;
  readonly clock?: ClockSource;
  /** Told what an operator must know; no message holds private data. */
  readonly onTrouble?: (message: string) => void;
}

/** A number with its interval, as the live stream sends it. */
export type LiveAnswer = (EventAnswer | HistogramAnswer) & { readonly metric: string; readonly key?: string };

const LIVE_QUANTILES = [0.5, 0.95, 0.99];

export class Service {
  readonly config: Config;
  readonly engine: Engine;
  readonly limits: Limits;
  readonly #odometer: Odometer;
  readonly #close: () => Promise<void>;

  private constructor(config: Config, engine: Engine, odometer: Odometer, close: () => Promise<void>) {
    this.config = config;
    this.engine = engine;
    this.limits = limitsOf(config);
    this.#odometer = odometer;
    this.#close = close;
  }

  /** Opens the state, and continues where it stopped. */
  static async open(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const key = options.key ?? readKey(config.key);
    const opened =
      options.store === undefined
        ? await openStore(config)
        : { store: options.store, close: () => Promise.resolve() };
    try {
      const { store } = opened;
      const odometer = await openBudget(config, store, new Sealer(key).subkey("odometer", 32));
      const charged = new Set<string>();
      const onBeat = (time: number): Promise<void> => charge(odometer, config, time, charged);
      await onBeat(options.clock?.wall() ?? Date.now()); // before anything is published
      const { waiting, commitEvery, remember } = limitsOf(config);
      const { clock, onTrouble } = options;
      const engine = await Engine.open({
        metrics: metricsOf(config),
        store,
        key,
        waiting,
        commitEvery,
        remember,
        onBeat,
        ...(clock === undefined ? {} : { clock }),
        ...(onTrouble === undefined ? {} : { onTrouble }),
      });
      return new Service(config, engine, odometer, opened.close);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** What a person may spend in the running UTC day, and what is spent. */
  readonly budget = (): { limit: number; spent: number; left: number } => {
    const { limit, data } = this.#odometer.statement();
    const today = data.find((entry) => entry.data === dayOf(this.engine.time));
    return { limit, spent: today?.spent ?? 0, left: today?.left ?? limit };
  };

  /** The answer for the range that a stream published last. */
  newest(metric: string, key: string): LiveAnswer | undefined {
    const published = this.engine.stream(this.engine.metric(metric)!, key)?.newest;
    return published && this.answerOf(published);
  }

  answerOf({ metric, key, from, to }: Published): LiveAnswer {
    const stream = this.engine.stream(this.engine.metric(metric.name)!, key)!;
    const asked = metric.type === "histogram" ? { quantiles: LIVE_QUANTILES } : {};
    return { metric: metric.name, ...(metric.hasKeys ? { key } : {}), ...stream.between(from, to, asked) };
  }

  /** Stores everything and ends. */
  async stop(): Promise<void> {
    await this.engine.stop();
    await this.#close();
  }
}

export function limitsOf({ limits = {} }: Config): Limits {
  return {
    body: limits.body ?? 1 << 20,
    batch: limits.batch ?? 10_000,
    waiting: limits.waiting ?? 200_000,
    perMinute: limits.perMinute ?? 60_000,
    commitEvery: limits.commitEvery ?? 20,
    remember: milliseconds(limits.remember ?? "10m"),
    timeout: 10_000,
  };
}

const UNIT = "one person, per day";
/** Milliseconds before a day begins. */
const CHARGED_AHEAD = 600_000;

function openBudget({ epsilon }: Config, store: Store, key: Uint8Array): Promise<Odometer> {
  return openOdometer({ name: "budget", store, key, limit: epsilon, unit: UNIT });
}

/** "2026-11-17": each UTC day is data of its own, since the unit is one person and day. */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Charges the metrics to the running day, and to the next one before its first events may come. */
async function charge(odometer: Odometer, config: Config, time: number, charged: Set<string>): Promise<void> {
  if (charged.has(dayOf(time)) && charged.has(dayOf(time + CHARGED_AHEAD))) return;
  const metrics = metricsOf(config);
  const ahead = CHARGED_AHEAD + Math.max(...metrics.map(({ skew }) => skew));
  for (const day of new Set([dayOf(time), dayOf(time + ahead)])) {
    for (const metric of metrics) {
      if (metric.perPerson === undefined) continue;
      const release = { epsilon: personEpsilon(metric), unit: UNIT };
      await odometer.register(releaseName(metric, day), release, { data: day }).catch((cause: unknown) => {
        throw new Refusal(
          `epsilon: the budget of ${day} does not allow the metric ${metric.name}: metrics that were removed or changed today still count today; wait for the next UTC day, or raise epsilon. ${(cause as Error).message}`,
          { cause },
        );
      });
    }
    charged.add(day);
  }
}

const releaseName = ({ name, epsilon }: Metric, day: string): string => `${day} ${name} ε=${epsilon}`;
