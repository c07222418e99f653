/**
 * Opens the state of a hub. The options are compared with what the store has before anything changes: a process whose clock, zone
 * or budget is refused must not end the one that has the hub. Then sections and rows are read, and what follows from the options and
 * the clock is stored. No event has a part in it.
 */
import { chooseNoise } from "../../core/choose.js";
import { secretKey } from "../../core/random.js";
import { HOUR } from "../../events/days/calendar.js";
import { timeText } from "../../events/days/duration.js";
import { EventMetric } from "../../events/eventMetric.js";
import { eventParameters } from "../../events/eventSettings.js";
import { eventStatement } from "../../events/statement.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import { snapshotKey } from "../../snapshot/streamCipher.js";
import { chargeMetric, checkCharge } from "../budget/budget.js";
import { Journal } from "../journal/journal.js";
import { Catalogue } from "./catalogue.js";
import type { EventHubSettings, MetricSettings } from "./eventHubOptions.js";
import { readRow, rowAt } from "./eventRow.js";
import type { HubMetric } from "./hubMetric.js";
import { HubState, sectionOf } from "./hubState.js";
import { NoiseKeys } from "./noiseKeys.js";
import { RequestIds } from "./requestIds.js";

/**
 * Reads the state, and stores what follows from the options and the clock.
 * @param charged releases that were charged as they began, and whose beginning could not be stored; gets those that begin now
 * @param began when this process began to listen
 * @param fence of the journal when this process had the hub open before; undefined if it has not
 */
export async function openHubState(
  settings: EventHubSettings,
  charged: Set<string>,
  began: number,
  fence: number | undefined,
): Promise<HubState> {
  const { store, name, atLeast, calendar } = settings;
  const key = await snapshotKey(settings.key);
  const journal = await Journal.open(store, key, name, atLeast);
  if (fence === undefined) await checkOpening(settings, journal, charged);
  const alone = settings.exclusive && store !== undefined;
  const begun = alone && (await journal.takeOver(fence, emptyRow));
  const catalogue = new Catalogue(secretKey(), calendar.zone);
  const found = await journal.load(catalogue);
  if (found !== undefined) catalogue.load(found);
  catalogue.checkZone(calendar.zone);
  const opening = await Opening.load(settings, journal, catalogue);
  const first = fence === undefined;
  // Not the time of the newest row: if the clock was set back, an event would decide on which day new keys begin.
  const now = Math.max(first ? began : settings.clock(), opening.state.told);
  await opening.follow(now, key, charged, alone && !begun, first ? began : NaN);
  return opening.state;
}

class Opening {
  readonly #settings: EventHubSettings;
  readonly #catalogue: Catalogue;
  readonly #noise: NoiseKeys;
  readonly state: HubState;

  private constructor(settings: EventHubSettings, catalogue: Catalogue, noise: NoiseKeys, state: HubState) {
    this.#settings = settings;
    this.#catalogue = catalogue;
    this.#noise = noise;
    this.state = state;
  }

  /** Reads the sections, and acts on the rows after them. */
  static async load(settings: EventHubSettings, journal: Journal, catalogue: Catalogue): Promise<Opening> {
    const noise = new NoiseKeys(catalogue.root);
    const ids = await noise.of("requests", "");
    const requests = new RequestIds(ids.slice(0, 4), settings.remember);
    const state = new HubState(settings, journal, catalogue, noise, requests);
    for (const section of requests.sections) {
      const stored = await journal.load(section);
      if (stored !== undefined) section.load(stored);
    }
    for (const own of settings.sections) {
      const section = state.addSection(own);
      const stored = await journal.load(section);
      if (stored === undefined) journal.touch(section); // stored with the first row
      await own.load(stored?.blob());
    }
    for (const [name, metric] of settings.metrics) {
      const record = catalogue.listed(name, parametersOf(metric));
      if (record !== undefined) await (await state.addMetric(record, metric)).load(journal);
    }
    await state.replay();
    return new Opening(settings, catalogue, noise, state);
  }

  /**
   * Follows the options: metrics and keys that are new, changed or gone. Passes over the periods that nobody listened to,
   * in a row of its own: if the first event's row did it, that event would decide which keys count the ones after it.
   * @param commits the fence of this process has no row yet
   * @param missedAt periods that were over then were missed; NaN for none
   */
  async follow(
    now: number,
    key: CryptoKey,
    charged: Set<string>,
    commits: boolean,
    missedAt: number,
  ): Promise<void> {
    const { state } = this;
    const { journal, metrics } = state;
    const begun = new Set<HubMetric>();
    const { calendar } = this.#settings;
    const tomorrow = calendar.dayAt(now).end;
    let changed = journal.position === 0 || commits;
    changed = this.#catalogue.keepOnly(new Set(this.#settings.metrics.keys())) || changed;
    changed = this.#catalogue.addSections(this.#settings.sections.map(({ name }) => name)) || changed;
    for (const [name, settings] of this.#settings.metrics) {
      const keys = settings.keys.list ?? [];
      const known = metrics.get(name);
      if (known !== undefined) {
        if (settings.keys.list === undefined) continue;
        for (const key of keys) await this.#noise.ready(name, key, settings.events.unsafeSeed);
        const next = Math.max(tomorrow, known.events.day.end);
        const { added, changed: moved } = known.follow(keys, next, journal.position + 1);
        for (const section of added) journal.add(section);
        changed ||= moved;
        continue;
      }
      // A name that was there before has used noise of its days: it begins with the next one.
      const began = this.#catalogue.knows(name) ? tomorrow : now;
      const row = journal.position + 1;
      const record = this.#catalogue.begin(name, parametersOf(settings), began, row, keys);
      const metric = await state.addMetric(record, settings);
      metric.begin();
      begun.add(metric);
      for (const section of metric.sections) journal.add(section);
      changed = true;
    }
    await this.#charge(key, begun, charged); // before anything of a new metric is stored
    if (changed) {
      this.#catalogue.urgent = true;
      journal.touch(this.#catalogue);
    }
    const misses = [...metrics.values()].some(({ events: metric, settings }) =>
      metric.misses(missedAt - settings.schedule.lateness),
    );
    if (changed || misses) {
      await state.commitMissed(missedAt);
      charged.clear();
    }
    await state.commitFound(now); // a process that ended just before its row
  }

  async #charge(key: CryptoKey, begun: ReadonlySet<HubMetric>, charged: Set<string>): Promise<void> {
    const { budget, name, store } = this.#settings;
    for (const hubMetric of this.state.metrics.values()) {
      const { events: metric, record } = hubMetric;
      const release = releaseName(name, record.name, record.generation);
      // Opened again after its first row could not be stored, it has published nothing in between.
      const begins = begun.has(hubMetric) && !charged.has(release);
      await chargeMetric(budget, release, eventStatement(metric), store, key, begins);
      if (begins) charged.add(release);
      else if (!begun.has(hubMetric)) charged.delete(release); // its beginning is stored: it publishes from now on
    }
  }
}

/** Parameters that a metric is bound to in the catalogue. */
const parametersOf = ({ events, keys }: MetricSettings): Parameters => ({
  ...eventParameters(events),
  keys: events.discovery !== undefined ? "votes" : keys.list === undefined ? "rule" : "list",
});

/** The name under which an odometer knows a metric of a hub. */
const releaseName = (hub: string, metric: string, generation: number): string =>
  `${hub}/${metric}${generation === 1 ? "" : `#${generation}`}`;

/**
 * Refuses options that the store contradicts. Changes nothing.
 * @param charged releases that were charged as they began, and whose beginning could not be stored
 */
async function checkOpening(
  settings: EventHubSettings,
  journal: Journal,
  charged: ReadonlySet<string>,
): Promise<void> {
  for (const section of settings.sections)
    section.check?.((await journal.peek(sectionOf(section)))?.blob(), journal.newest !== undefined);
  checkClock(settings, journal.newest === undefined ? -Infinity : readRow(journal.newest).time);
  const { calendar, budget, metrics, name: hub, clock } = settings;
  const catalogue = new Catalogue(NO_SECRET, calendar.zone);
  const found = await journal.peek(catalogue);
  if (found !== undefined) catalogue.load(found);
  catalogue.checkZone(calendar.zone);
  if (budget === undefined) return;
  for (const [name, metric] of metrics) {
    const record = catalogue.listed(name, parametersOf(metric));
    const release = releaseName(hub, name, record?.generation ?? catalogue.nextGeneration(name));
    const keys = { people: NO_SECRET.slice(0, 4), own: NO_SECRET, release: () => NO_SECRET };
    const unused = new EventMetric(metric.events, chooseNoise(metric.events.core), keys, clock(), []);
    await checkCharge(budget, release, eventStatement(unused), record === undefined && !charged.has(release));
  }
}

const NO_SECRET = new Uint32Array(8);

function checkClock({ clock, confirmClock }: EventHubSettings, newest: number): void {
  const now = clock();
  if (confirmClock || newest === -Infinity || now <= newest + HOUR) return;
  throw new RangeError(
    `clock: expected at most an hour after the newest stored time, got ${timeText(now)}; if the clock is right, open with confirmClock: true`,
  );
}

/** A row that takes a journal over, from its newest one. */
function emptyRow(newest: Uint8Array): Uint8Array {
  const { time, told } = readRow(newest);
  return rowAt(time, told);
}
