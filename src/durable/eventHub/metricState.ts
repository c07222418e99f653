/** One metric of a hub in memory: its clock, its people, its hold-out, and the streams of its keys. */
import { refuseValue } from "../../core/checks.js";
import { eventTime } from "../../events/duration.js";
import { type DroppedEvents, type EventInfo, ownFields } from "../../events/intake.js";
import type { AnyEvents } from "../../events/open.js";
import { type EventSettings, type EventStreamOptions, HOLDOUT_EVENTS } from "../../events/options.js";
import { checkPerson, People } from "../../events/people.js";
import { type EventTemplate, eventTemplate, type Own } from "../../events/template.js";
import { dueAt, horizonAt, type Schedule, startOf, tickOf } from "../../events/ticks.js";
import type { Decoder, Encoder } from "../../stream/codec.js";
import type { KeyRule } from "../hubOptions.js";
import type { MetricSettings } from "./options.js";
import type { Entry } from "./records.js";
import { SharedHoldout } from "./sharedHoldout.js";

/** More ticks than this are closed in several steps. */
const STEP = 2 ** 20;
/** More ticks than this between two closings: a clock that jumps by years is a mistake. */
const MOST_AT_ONCE = 2 ** 26;
const NOBODY = new Uint32Array(0);

/** Keys for the noise of a metric, by purpose. */
export interface NoiseKeys {
  /** 4 words that hash ids of people. */
  readonly people: Uint32Array;
  /** 8 words that choose a shared θ. */
  readonly threshold: Uint32Array;
}

/** What a metric began with. It stays, whatever keys the hub has later. */
export interface Begun {
  /** When its first tick starts. */
  readonly origin: number;
  /** How many ticks choose a shared θ, and a guess of the events that each of them has, over all keys. */
  readonly held: { readonly ticks: number; readonly perTick: number };
}

/** Why an event is not stored. */
type Dropped = "no key" | "late" | "early";

export class MetricState {
  readonly name: string;
  readonly keys: KeyRule;
  /** Ticks closed so far. */
  closed = 0;
  readonly #schedule: Schedule;
  readonly #settings: MetricSettings;
  readonly #noise: NoiseKeys;
  readonly #people: People | undefined;
  readonly holdout: SharedHoldout | undefined;
  /** Makes the streams; undefined before a shared θ is known. */
  #template: EventTemplate | undefined;
  readonly #counts: boolean;
  readonly #streams = new Map<string, AnyEvents>();
  /** Streams that got events since ticks were closed. */
  readonly #touched = new Set<AnyEvents>();
  #late = 0;
  #early = 0;
  #overLimit = 0;

  constructor(name: string, settings: MetricSettings, { origin, held }: Begun, noise: NoiseKeys) {
    this.name = name;
    this.keys = settings.keys;
    this.#settings = settings;
    this.#noise = noise;
    const template = templateOf(settings);
    const { schedule, limit } = template.settings;
    this.#schedule = { ...schedule, origin };
    this.#people = limit === undefined ? undefined : new People(noise.people, limit);
    this.#counts = (settings.options as EventStreamOptions).of === "count";
    if (settings.shared) this.holdout = new SharedHoldout(template.stream, held.ticks, held.perTick);
    else this.#template = template;
  }

  /** Ticks that are never published, because they choose θ for all keys. */
  get held(): number {
    return this.holdout?.ticks ?? 0;
  }

  get dropped(): DroppedEvents {
    return { late: this.#late, early: this.#early, overLimit: this.#overLimit };
  }

  /** The event as the log has it, or why it is dropped. Throws where it makes no sense. Changes nothing. */
  entryOf(key: string, asked: number | undefined, event: EventInfo | undefined): Entry | Dropped {
    const value = this.#counts ? 1 : asked!;
    if (!Number.isFinite(value)) refuseValue();
    const now = this.#schedule.clock();
    const { at: time, person } = ownFields(event);
    const at = time === undefined ? now : eventTime(time);
    if (this.#people !== undefined) checkPerson(person);
    else if (person !== undefined)
      throw new TypeError(
        `person: expected none, since metric ${this.name} has no perPerson; set it to protect people, or leave the id away`,
      );
    if (!this.keys.has(key)) return "no key";
    const tick = tickOf(this.#schedule, at);
    if (tick < this.closed) return "late";
    if (tick > horizonAt(this.#schedule, now)) return "early";
    const hash = this.#people?.hash(person!).slice() ?? NOBODY;
    return { metric: this.name, key, tick, value, hash };
  }

  /** Those that are not dropped; counts the others. */
  taken(events: readonly (Entry | Dropped)[]): Entry[] {
    const entries = events.filter((event) => typeof event !== "string");
    for (const event of events)
      if (event === "late") this.#late++;
      else if (event === "early") this.#early++;
    return entries;
  }

  /** Whether an event counts, now that its turn to be stored has come; counts it for its person. */
  admit({ tick, hash }: Entry): boolean {
    const open = tick >= this.closed;
    if (open && this.countPerson(tick, hash)) return true;
    if (open) this.#overLimit++;
    else this.#late++;
    return false;
  }

  /** Counts an event for its person; false if the person has had all events of the period. */
  countPerson(tick: number, hash: Uint32Array): boolean {
    return this.#people?.admitHash(hash, startOf(this.#schedule, tick)) ?? true;
  }

  /** Whether an event goes to the hold-out, not to the stream of its key. */
  isHeld(tick: number): boolean {
    return this.holdout !== undefined && (tick < this.held || !this.holdout.chosen);
  }

  /** Gives an event to the stream of its key, which is there. */
  deliver(key: string, tick: number, value: number): void {
    const stream = this.#streams.get(key)!;
    const own = tick - this.held;
    if (own >= stream.closed) stream.takeInto(own, value);
    this.#touched.add(stream);
  }

  /** How many ticks are due at a time; never fewer than before, if a clock jumps back. */
  due(now: number): number {
    const due = Math.max(this.closed, dueAt(this.#schedule, now));
    if (due - this.closed > MOST_AT_ONCE)
      throw new RangeError(
        `advance: expected at most 2^26 ticks of metric ${this.name} at a time, got ${due - this.closed}; check the clock, or advance in steps`,
      );
    return due;
  }

  /** Closes all ticks before `tick`. Streams that had no event since then follow when they are asked. */
  close(tick: number): void {
    this.closed = Math.max(this.closed, tick);
    this.#people?.forgetBefore(startOf(this.#schedule, this.closed));
    if (this.holdout !== undefined) {
      this.holdout.close(this.closed, templateOf(this.#settings).core, this.#noise.threshold);
      if (this.holdout.chosen) this.#makeTemplate();
    }
    for (const stream of this.#touched) this.#catchUp(stream);
    this.#touched.clear();
  }

  /** Streams have the chosen θ and no hold-out of their own. */
  #makeTemplate(): void {
    const options = this.#settings.options as EventStreamOptions;
    this.#template ??= eventTemplate({ ...options, threshold: this.holdout!.theta, holdout: 0 });
  }

  #catchUp(stream: AnyEvents): void {
    const target = this.closed - this.held;
    const { lateness } = this.#schedule;
    while (stream.closed < target) {
      const tick = this.held + Math.min(target, stream.closed + STEP);
      stream.advance(startOf(this.#schedule, tick) + lateness);
    }
  }

  /** The stream of a key, with all ticks closed that are closed; undefined if it is not made yet. */
  stream(key: string): AnyEvents | undefined {
    const stream = this.#streams.get(key);
    if (stream !== undefined) this.#catchUp(stream);
    return stream;
  }

  has(key: string): boolean {
    return this.#streams.has(key);
  }

  ownOf(key: string): Own {
    return { name: `${this.name}/${key}`, origin: startOf(this.#schedule, this.held) };
  }

  /** What makes streams; a shared θ is known. */
  get template(): EventTemplate {
    return this.#template!;
  }

  put(key: string, stream: AnyEvents): void {
    this.#streams.set(key, stream);
  }

  save(writer: Encoder): void {
    writer.double(this.closed);
    const horizon = horizonAt(this.#schedule, this.#schedule.clock());
    const [from, to] = [this.closed, Math.max(this.closed, horizon) + 1].map((tick) =>
      startOf(this.#schedule, tick),
    );
    this.#people?.save(writer, from!, to!);
    this.holdout?.save(writer);
  }

  load(reader: Decoder): void {
    this.closed = reader.double();
    this.#people?.load(reader);
    this.holdout?.load(reader);
    if (this.holdout?.chosen) this.#makeTemplate();
  }

  /** When its ticks [from, to) are. */
  span(from: number, to: number): { readonly from: number; readonly to: number } {
    return { from: startOf(this.#schedule, from), to: startOf(this.#schedule, to) };
  }
}

/** What a metric begins with if the hub has the keys that it has now. */
export function beginning(settings: MetricSettings): Begun {
  const { choosing, warming, ...ticks } = templateOf(settings).settings as EventSettings;
  const perTick = ticks.perTick * (settings.keys.list?.length ?? 1);
  const asked = (settings.options as EventStreamOptions).holdout !== undefined;
  const held = asked ? choosing + warming : Math.max(16, Math.ceil(HOLDOUT_EVENTS / perTick));
  return { origin: ticks.schedule.origin, held: { ticks: settings.shared ? held : 0, perTick } };
}

const templates = new WeakMap<MetricSettings, EventTemplate>();

/** Made once for the settings of a metric. */
export function templateOf(settings: MetricSettings): EventTemplate {
  let template = templates.get(settings);
  if (template === undefined) templates.set(settings, (template = eventTemplate(settings.options)));
  return template;
}
