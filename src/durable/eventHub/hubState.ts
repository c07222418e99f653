/**
 * Everything that a hub has in memory, as of one record of its log. A commit decides which events count, stores the
 * record, and only then acts on it: what is in memory is in the store, so answers may be given at once. After a commit
 * that failed the object is thrown away, and another one is made from the store.
 */
import { unsafeKey } from "../../core/unsafeKey.js";
import { snapshotKey } from "../../stream/sealing.js";
import { Committer } from "../committer.js";
import { conflict, type NamedSnapshot, StoreError } from "../stores/store.js";
import { HubRecord } from "./hubRecord.js";
import { EventLog, SLOTS } from "./log.js";
import { type Begun, MetricState } from "./metricState.js";
import { NoiseKeys } from "./noiseKeys.js";
import type { EventHubSettings, MetricSettings } from "./options.js";
import { type Entry, type LogRecord, readRecord, writeRecord } from "./records.js";
import { type Item, States } from "./states.js";

/** The hub's own record is stored again after so many records of the log. */
const RECORD_EVERY = SLOTS / 8;

/** Where the state is stored. */
interface Kept {
  readonly committer: Committer;
  readonly log: EventLog;
  readonly states: States;
}

export class HubState {
  readonly #settings: EventHubSettings;
  readonly #record: HubRecord;
  readonly #keys: NoiseKeys;
  readonly #kept: Kept | undefined;
  readonly metrics = new Map<string, MetricState>();
  readonly #items = new Map<MetricState | string, Item>();
  readonly #making = new Map<string, Promise<void>>();
  /** The last record of the log that is in memory. */
  position = 0;
  /** Whether the store has something else than this object thinks: it is to be replaced. */
  stale = false;
  /** A commit has begun to change what is in memory and has not ended. */
  halfway = false;

  private constructor(settings: EventHubSettings, record: HubRecord, kept: Kept | undefined) {
    this.#settings = settings;
    this.#record = record;
    this.#keys = new NoiseKeys(record.root);
    this.#kept = kept;
  }

  static async open(settings: EventHubSettings): Promise<HubState> {
    const { store, name, atLeast } = settings;
    const key = await snapshotKey(settings.key);
    const record = await HubRecord.open(store, key, name);
    const kept = store && {
      committer: new Committer(store),
      log: await EventLog.open(store, key, name),
      states: new States(store, key),
    };
    const state = new HubState(settings, record, kept);
    await state.#addMetrics();
    if (kept !== undefined) await state.#replayAll(kept);
    if (state.position < atLeast)
      throw new StoreError(
        "rolled-back",
        `store: expected record ${atLeast} or a later one of hub ${JSON.stringify(name)}, got ${state.position}; the store was rolled back, and continuing it would publish ticks again`,
      );
    return state;
  }

  async #addMetrics(): Promise<void> {
    let changed = this.#record.isNew;
    for (const [name, settings] of this.#settings.metrics) {
      const { isNew, ...begun } = this.#record.metric(name, settings);
      changed ||= isNew;
      await this.#addMetric(name, settings, begun);
    }
    if (changed && this.#kept !== undefined) {
      const { covered } = this.#record;
      const record = await this.#record.seal(covered);
      await this.#kept.committer.commit(() => record);
      this.#record.stored(covered);
    }
  }

  async #addMetric(name: string, settings: MetricSettings, begun: Begun): Promise<void> {
    const [people, threshold] = [await this.#keys.of("people", name), await this.#keys.of("threshold", name)];
    const { unsafeSeed } = settings.options;
    const noise = {
      people: people.slice(0, 4),
      threshold: unsafeSeed === undefined ? threshold : unsafeKey(`${unsafeSeed}/${name}`),
    };
    const metric = new MetricState(name, settings, begun, noise);
    this.metrics.set(name, metric);
    const item: Item = {
      name: `${this.#settings.name}/${name}/metric`,
      parameters: { name: `${this.#settings.name}/${name}` },
      save: (writer) => {
        this.#pruneWaiting(metric);
        metric.save(writer);
      },
    };
    this.#items.set(metric, item);
    const state = await this.#kept?.states.load(item);
    if (state !== undefined) metric.load(state);
  }

  /** Events that waited for θ are kept until the stream that has them now is stored. */
  #pruneWaiting({ name, holdout }: MetricState): void {
    if (holdout === undefined) return;
    const covers = (key: string): number => {
      const item = this.#items.get(`${name}/${key}`);
      return item === undefined ? 0 : this.#kept!.states.covers(item);
    };
    holdout.waiting = holdout.waiting.filter(({ key, position }) => covers(key) < position);
  }

  metric(name: string): MetricState {
    const metric = this.metrics.get(name);
    if (metric === undefined)
      throw new RangeError(
        `metric: expected ${[...this.metrics.keys()].join(", ")}, got ${JSON.stringify(String(name).slice(0, 40))}`,
      );
    return metric;
  }

  /** Makes the stream of a key, from its stored state if there is one. */
  async ensure(metric: MetricState, key: string): Promise<void> {
    if (metric.has(key) || (metric.holdout !== undefined && !metric.holdout.chosen)) return;
    const name = `${metric.name}/${key}`;
    let making = this.#making.get(name);
    if (making === undefined) {
      making = this.#make(metric, key, name).finally(() => this.#making.delete(name));
      this.#making.set(name, making);
    }
    return making;
  }

  async #make(metric: MetricState, key: string, name: string): Promise<void> {
    const own = metric.ownOf(key);
    const { unsafeSeed } = this.#settings.metrics.get(metric.name)!.options;
    const noiseKey =
      unsafeSeed === undefined ? await this.#keys.of("stream", name) : unsafeKey(`${unsafeSeed}/${name}`);
    const stream = metric.template.make(own, noiseKey);
    const item: Item = {
      name: `${this.#settings.name}/${metric.name}/=${key}`,
      parameters: { ...metric.template.parameters(own), hub: this.#settings.name },
      save: (writer) => metric.stream(key)!.snapshots.write(writer),
    };
    const state = await this.#kept?.states.load(item);
    if (state !== undefined) {
      state.words(8); // its key, which follows from the hub's
      state.double(); // its origin, too
      stream.load(state);
    }
    this.#items.set(name, item);
    metric.put(key, stream);
    const covers = this.#kept?.states.covers(item) ?? 0;
    for (const event of metric.holdout?.waiting ?? [])
      if (event.key === key && event.position > covers) {
        metric.deliver(key, event.tick, event.value);
        this.#kept?.states.touch(item, event.position);
      }
  }

  /** Reads the log from where all states are stored. */
  async #replayAll({ log }: Kept): Promise<void> {
    this.position = this.#record.covered;
    for (;;) {
      const bytes = await log.read(this.position + 1);
      if (bytes === undefined) return;
      const record = readRecord(bytes);
      await this.#ensureAll(record.entries);
      this.#replay(record, this.position + 1);
      this.position++;
    }
  }

  async #ensureAll(entries: readonly Entry[]): Promise<void> {
    for (const { metric, key, tick } of entries) {
      const of = this.metric(metric);
      if (!of.has(key) && tick >= of.held) await this.ensure(of, key);
    }
  }

  /** Acts on a record as far as the stored states do not cover it. */
  #replay({ entries, closes }: LogRecord, position: number): void {
    const { states } = this.#kept!;
    for (const { metric, key, tick, value, hash } of entries) {
      const of = this.metric(metric);
      const item = this.#items.get(of)!;
      const isNew = position > states.covers(item);
      if (isNew) of.countPerson(tick, hash);
      if (isNew && of.isHeld(tick)) of.holdout!.add({ key, tick, value, position });
      if (isNew) states.touch(item, position);
      if (
        of.isHeld(tick) ||
        of.holdout?.waiting.some((event) => event.position === position && event.key === key)
      )
        continue;
      const stream = this.#items.get(`${metric}/${key}`)!;
      if (position <= states.covers(stream)) continue;
      of.deliver(key, tick, value);
      states.touch(stream, position);
    }
    for (const [metric, closed] of closes) {
      const of = this.metric(metric);
      if (position > states.covers(this.#items.get(of)!)) of.close(closed);
      states.touch(this.#items.get(of)!, position);
    }
  }

  /**
   * Stores events and closed ticks. Gives how many ticks of a metric are closed from now on, where that changed.
   * @param now closes the ticks that are due then; undefined closes none
   */
  async commit(pending: readonly Entry[], now: number | undefined): Promise<ReadonlyMap<string, number>> {
    await this.#ensureAll(pending);
    const position = this.position + 1;
    const kept = this.#kept;
    if (kept !== undefined && !kept.log.knows(position) && (await kept.log.read(position)) !== undefined)
      throw conflict(this.#settings.name, position);
    if (position - SLOTS > this.#record.covered) await this.checkpoint();
    const states = (await kept?.states.due(this.position)) ?? [];
    const closes = this.#closes(now);
    this.halfway = true;
    const entries = pending.filter((entry) => this.metric(entry.metric).admit(entry));
    if (entries.length > 0 || closes.size > 0) {
      if (kept !== undefined) await this.#store(kept, position, { entries, closes }, states);
      this.position = position;
      this.#applyStored(entries, closes);
    }
    this.halfway = false;
    return closes;
  }

  /** What is stored has happened, even if memory runs out now: then it is read again. */
  #applyStored(entries: readonly Entry[], closes: ReadonlyMap<string, number>): void {
    try {
      this.#apply(entries, closes);
    } catch (error) {
      if (this.#kept === undefined) throw error;
      this.stale = true;
    }
  }

  #closes(now: number | undefined): Map<string, number> {
    const closes = new Map<string, number>();
    if (now !== undefined)
      for (const metric of this.metrics.values()) {
        const due = metric.due(now);
        if (due > metric.closed) closes.set(metric.name, due);
      }
    return closes;
  }

  async #store(
    { committer, log, states }: Kept,
    position: number,
    record: LogRecord,
    due: NamedSnapshot[],
  ): Promise<void> {
    const covered = states.covered(this.position);
    const first = await log.seal(position, (writer) => writeRecord(writer, record));
    const hub = covered - this.#record.covered >= RECORD_EVERY ? [await this.#record.seal(covered)] : [];
    const stored = committer
      .commit(() => first)
      .catch((cause: unknown) => {
        throw inDoubt(this.#settings.name, cause);
      });
    await Promise.all([stored, this.#storeStates(committer, [...due, ...hub])]);
    log.stored(position);
    if (this.stale) return;
    for (const state of due) states.stored(state);
    if (hub.length > 0) this.#record.stored(covered);
  }

  /** States that cannot be stored do not harm the record that is stored with them: they are read again. */
  async #storeStates(committer: Committer, snapshots: readonly NamedSnapshot[]): Promise<void> {
    const results = await Promise.allSettled(snapshots.map((snapshot) => committer.commit(() => snapshot)));
    this.stale ||= results.some(({ status }) => status === "rejected");
  }

  #apply(entries: readonly Entry[], closes: ReadonlyMap<string, number>): void {
    const { position } = this;
    const touch = (of: MetricState | string): void =>
      this.#kept?.states.touch(this.#items.get(of)!, position);
    for (const { metric, key, tick, value, hash } of entries) {
      const of = this.metric(metric);
      const isHeld = of.isHeld(tick);
      if (isHeld) of.holdout!.add({ key, tick, value, position });
      else of.deliver(key, tick, value);
      if (!isHeld) touch(`${metric}/${key}`);
      if (isHeld || hash.length > 0) touch(of);
    }
    for (const [metric, closed] of closes) {
      this.metric(metric).close(closed);
      touch(this.metric(metric));
    }
  }

  /** Stores all states: the log is not needed then. */
  async checkpoint(): Promise<void> {
    if (this.#kept === undefined) return;
    const { committer, states } = this.#kept;
    const due = await states.due(this.position, true);
    await Promise.all(due.map((state) => committer.commit(() => state)));
    for (const state of due) states.stored(state);
    const covered = states.covered(this.position);
    if (covered <= this.#record.covered) return;
    const record = await this.#record.seal(covered);
    await committer.commit(() => record);
    this.#record.stored(covered);
  }
}

/** A conflict says that another record is there. After any other failure nobody knows. */
function inDoubt(hub: string, cause: unknown): unknown {
  if (!(cause instanceof StoreError) || cause.code === "conflict") return cause;
  return new StoreError(
    "in-doubt",
    `hub ${JSON.stringify(hub)}: the store failed while it stored events; whether they count is not known, and adding them again may count them twice`,
    { cause },
  );
}
