/** The account of what a person may spend: each day of the zone is data of its own, charged before it begins. */
import { budgetKey, DAY, Refusal } from "brume/node";
import { type Odometer, openOdometer, type Store } from "brume";
import { type ResolvedMetric, metricsOf, personDelta, personEpsilon } from "./config/metrics.js";
import type { Config } from "./config/types.js";
import { ZoneDays } from "./zoneDays.js";

/** Milliseconds that the charges of a day are kept: no event of an older day is taken. */
const REMEMBERED = 32 * DAY;
/** Milliseconds before a day begins. */
const AHEAD = 600_000;

export interface Spending {
  readonly limit: number;
  readonly spent: number;
  readonly left: number;
  /** δ that is spent: that of keys that are discovered. */
  readonly delta: number;
}

/** A change of what a person may spend on a metric, with the first day that it held on. */
export interface SettingsChange {
  /** "2026-11-18", of the zone. */
  readonly day: string;
  readonly metric: string;
  /** As {@link releaseName} writes it; null if the metric did not protect people, or was not there. */
  readonly was: string | null;
  readonly now: string | null;
}

export class DayBudget {
  // Parameters
  readonly #odometer: Odometer;
  readonly #days: ZoneDays;
  readonly #metrics: readonly ResolvedMetric[];
  readonly #unit: string;
  readonly #ahead: number;
  // State
  /** Days up to this time are charged. */
  #paidUntil = -Infinity;

  private constructor(odometer: Odometer, days: ZoneDays, metrics: readonly ResolvedMetric[], unit: string) {
    this.#odometer = odometer;
    this.#days = days;
    this.#metrics = metrics;
    this.#unit = unit;
    this.#ahead = AHEAD + Math.max(...metrics.map(({ skew }) => skew));
  }

  /** @param atLeast the lowest number that its stored state may have */
  static async open(config: Config, store: Store, key: Uint8Array, atLeast: number): Promise<DayBudget> {
    const { epsilon, delta = 0, zone = "UTC" } = config;
    const unit = `one person, per day (${zone})`;
    const odometer = await openOdometer({
      ...{ name: "budget", store, key: budgetKey(key), limit: { epsilon, delta }, unit, atLeast },
    });
    return new DayBudget(odometer, new ZoneDays(zone), metricsOf(config), unit);
  }

  /** The number of its newest stored state. */
  get sequence(): number {
    return this.#odometer.sequence;
  }

  /** No time after this one has been paid for. */
  get paidUntil(): number {
    return this.#paidUntil;
  }

  /** The budget of a person in the day of a time, and how much of it is spent. */
  of(time: number): Spending {
    const { limit, data } = this.#odometer.statement();
    const today = data.find((entry) => entry.data === this.#days.nameOf(time));
    return { limit, spent: today?.spent ?? 0, left: today?.left ?? limit, delta: today?.delta ?? 0 };
  }

  /** Changes of settings since the oldest day that is kept, newest first. They are public: no event decides them. */
  changes(): readonly SettingsChange[] {
    const data = this.#odometer.statement().data.toSorted((a, b) => (a.data < b.data ? -1 : 1));
    const changes: SettingsChange[] = [];
    /** The settings of each metric that is there. */
    let before: ReadonlyMap<string, string> | undefined;
    for (const { data: day, releases } of data) {
      const latest = new Map<string, string>();
      for (const [metric, all] of settingsByMetric(releases)) {
        let was = before === undefined ? all[0]! : (before.get(metric) ?? null);
        // What stands before the settings that the day before ended with was charged ahead, and never held on this day.
        for (const now of all.slice(was === null ? 0 : all.indexOf(was) + 1)) {
          changes.unshift({ day, metric, was, now });
          was = now;
        }
        latest.set(metric, all.at(-1)!);
      }
      for (const [metric, was] of before ?? [])
        if (!latest.has(metric)) changes.unshift({ day, metric, was, now: null });
      before = latest;
    }
    return changes;
  }

  /** Charges the metrics to the running day, and to the next one before its first events may come. */
  async charge(time: number): Promise<void> {
    if (time + AHEAD < this.#paidUntil) return;
    for (const { data } of this.#odometer.statement().data)
      if (data < this.#days.nameOf(time - REMEMBERED)) await this.#odometer.forget(data);
    for (const at of [time, time + this.#ahead]) {
      if (at < this.#paidUntil) continue;
      await this.#chargeDay(this.#days.nameOf(at));
      this.#paidUntil = this.#days.endOf(at);
    }
  }

  async #chargeDay(day: string): Promise<void> {
    const releases = this.#odometer.statement().data.find(({ data }) => data === day)?.releases ?? [];
    for (const metric of this.#metrics) {
      if (metric.perPerson === undefined) {
        if (releases.some(({ name }) => name.startsWith(`${day} ${metric.name} `)))
          throw unprotected(metric, day);
        continue;
      }
      const release = { epsilon: personEpsilon(metric), delta: personDelta(metric), unit: this.#unit };
      await this.#odometer
        .register(releaseName(metric, day), release, { data: day })
        .catch((cause: unknown) => {
          if (!(cause instanceof RangeError)) throw cause; // the store failed
          throw new Refusal(
            `epsilon: the budget of ${day} does not allow the metric ${metric.name}: metrics that were removed or changed today still count today; wait for the next day, or raise epsilon. ${cause.message}`,
            { cause },
          );
        });
    }
  }
}

/** Refusal of a metric that was charged as protecting people and would protect events alone on the same day: people were promised more. */
function unprotected({ name }: ResolvedMetric, day: string): Refusal {
  return new Refusal(
    `metrics.${name}.protect: expected "person" on ${day}, since the metric began the day so, got "event"; wait for the next day, or give the metric another name`,
  );
}

/** The parts of a release's name: its day, the metric, and what decides what a person spends. */
const CHARGED = /^(\S+) (.*) (\w+ ε=.*)$/;

/** Settings of each metric that were charged to a day, in order. */
function settingsByMetric(releases: readonly { readonly name: string }[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of releases) {
    const [, , metric, settings] = CHARGED.exec(name) ?? [];
    if (settings !== undefined) found.set(metric!, [...(found.get(metric!) ?? []), settings]);
  }
  return found;
}

/**
 * Names all that decides what a person spends: a metric whose type or limit changes is charged again. Keys are not in it:
 * a person is counted over all keys together, so other keys let no person spend more.
 */
const releaseName = (metric: ResolvedMetric, day: string): string => {
  const { name, type, epsilon, perPerson, over, discovers } = metric;
  const votes =
    discovers === undefined ? "" : ` δ=${discovers.discover.delta} share=${discovers.discover.share ?? 0.25}`;
  return `${day} ${name} ${type} ε=${epsilon} limit=${JSON.stringify(perPerson)}${over === undefined ? "" : ` over=${over}`}${votes}`;
};
