/**
 * Reads events and decides what becomes of each: its period, its person, and how much of it counts. All decisions are made
 * from public settings, the clock and the events of its own person. Streams, hubs, the service and Kafka's workers ask here.
 */
import { refuseValue } from "../core/checks.js";
import { quantise } from "../core/quantise.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";
import { HOUR } from "./days/calendar.js";
import { eventTime } from "./days/duration.js";
import type { Dropped, PeriodClock } from "./days/periodClock.js";
import { type DroppedEvents, type EventInfo, ownFields } from "./eventInfo.js";
import { type EventSettings, unitsOf } from "./eventSettings.js";
import { DistinctPeople } from "./people/distinctPeople.js";
import { checkPerson, type LimitedPeople, People } from "./people/people.js";

/** An event that was read: everything about it that its release depends on. */
export interface ReadEvent {
  readonly key: string;
  readonly value: number;
  /** Start of its period, of its day and of its hour. */
  readonly start: number;
  readonly day: number;
  readonly hour: number;
  /** Hash of the event's person; empty if people are not limited. */
  readonly hash: Uint32Array;
}

/**
 * Decision about an event: it counts, it helps to choose θ or k and counts for nothing else, its person's limit or the end
 * of the hold-out leaves nothing of it, or its period was closed meanwhile.
 */
export interface Admission {
  readonly kind: "counted" | "held" | "limited" | "late";
  /** Amount of it that counts. */
  readonly granted: number;
}

/** Times from which and until which events choose θ or k. */
interface Window {
  readonly from: number;
  readonly until: number;
}

const NOBODY = new Uint32Array(0);
const LIMITED: Admission = Object.freeze({ kind: "limited", granted: 0 });
const LATE: Admission = Object.freeze({ kind: "late", granted: 0 });

export class Intake {
  // Parameters
  readonly #settings: EventSettings;
  readonly #clock: PeriodClock;
  /** Whether events have a person. */
  readonly limits: boolean;
  // State
  readonly people: People | undefined;
  /** Instead of `people`, if different people are counted. */
  readonly #distinct: DistinctPeople | undefined;
  /** The hold-out while it lasts. */
  window: Window | undefined;
  #late = 0;
  #early = 0;
  #overLimit = 0;

  /** @param key 4 secret words that hash ids of people */
  constructor(settings: EventSettings, clock: PeriodClock, key: Uint32Array) {
    const { limit, distinct, grid } = settings;
    this.#settings = settings;
    this.#clock = clock;
    this.limits = limit !== undefined;
    if (distinct !== undefined) this.#distinct = new DistinctPeople(key, distinct.keys, limit!.people);
    else if (limit !== undefined) {
      const most =
        limit.sum === undefined ? (limit.events ?? limit.most!) : unitsOf(limit.sum, grid!.resolution);
      this.people = new People(key, limit, most);
    }
  }

  get dropped(): DroppedEvents {
    return { late: this.#late, early: this.#early, overLimit: this.#overLimit };
  }

  /**
   * Reads an event: its period and its person, or why it is dropped. Throws if it is invalid. Changes nothing.
   * All code of the caller (the clock, getters of the event) runs before anything is decided.
   */
  read(key: string, asked: number | undefined, event: EventInfo | undefined): ReadEvent | Dropped {
    const value = this.checkValue(asked);
    const { at: time, person } = ownFields(event);
    const now = time === undefined ? this.#settings.schedule.clock() : NaN;
    const read = this.readAt(key, value, time === undefined ? now : eventTime(time), now, person);
    return typeof read === "string" ? read : { ...read, hash: read.hash.slice() };
  }

  checkValue(asked: number | undefined): number {
    const value = this.#settings.of === "count" ? 1 : asked!;
    if (!Number.isFinite(value)) refuseValue();
    return value;
  }

  /** `read` for fields that were read before; the hash is valid until the next call. @param now NaN if the clock was not asked */
  readAt(
    key: string,
    value: number,
    at: number,
    now: number,
    person: string | undefined,
  ): ReadEvent | Dropped {
    const hash = this.#hashOf(person);
    const period = this.#clock.find(at, now);
    if (typeof period === "string") return period;
    const { start, day } = period;
    const hour = day.start + Math.floor((at - day.start) / HOUR) * HOUR;
    return { key, value, start, day: day.start, hour, hash };
  }

  /** The hash of a person, valid until the next call. */
  #hashOf(person: string | undefined): Uint32Array {
    const people = this.#distinct ?? this.people;
    if (people !== undefined) {
      checkPerson(person);
      return people.hash(person);
    }
    if (person !== undefined)
      throw new TypeError(
        "person: expected none without perPerson; set perPerson to protect people, or omit the id",
      );
    return NOBODY;
  }

  /** Counts events that `read` dropped. */
  countDropped(reason: Dropped): void {
    if (reason === "late") this.#late++;
    else this.#early++;
  }

  /** Decides of an event that `read` gave, and counts it towards its person's limit. */
  admit({ key, value, start, day, hour, hash }: ReadEvent): Admission {
    if (start < this.#clock.next) {
      this.#late++;
      return LATE;
    }
    const kind = this.window === undefined ? "counted" : "held";
    // A person's events of one day must not choose θ or k with all of ε and be counted as well, if only in `limited`.
    if (this.window !== undefined && !(start >= this.window.from && start < this.window.until))
      return LIMITED;
    if (this.#distinct !== undefined) {
      const admission = this.#distinct.admit(hash, key, day);
      if (admission === "over") this.#overLimit++;
      return admission === "new" ? { kind, granted: 1 } : LIMITED;
    }
    const { grid, limit } = this.#settings;
    const amount = limit?.sum === undefined ? 1 : quantise(value, grid!.max, grid!.resolution);
    if (this.people === undefined) return { kind, granted: amount };
    const granted = this.people.admit(hash, day, hour, amount);
    if (granted < amount) this.#overLimit++;
    return granted === 0 && (limit?.sum === undefined || amount > 0) ? LIMITED : { kind, granted };
  }

  /** People of a day who lost something to the limit. */
  limited(day: number): LimitedPeople {
    return (this.#distinct ?? this.people!).limited(day);
  }

  /** Forgets people of days and hours before these. */
  forgetBefore(day: number, hour: number): void {
    this.people?.forgetBefore(day, hour);
    this.#distinct?.forgetBefore(day);
  }

  /** Forgets everybody and all counters: all events will be given again. */
  restart(): void {
    this.people?.forgetBefore(Infinity, Infinity);
    [this.#late, this.#early, this.#overLimit] = [0, 0, 0];
  }

  save(writer: Encoder, days: readonly number[], hours: readonly number[]): void {
    for (const count of [this.#late, this.#early, this.#overLimit]) writer.double(count);
    this.people?.save(writer, days, hours);
    this.#distinct?.save(writer, days);
  }

  load(reader: Decoder): void {
    this.#late = reader.double();
    this.#early = reader.double();
    this.#overLimit = reader.double();
    this.people?.load(reader);
    this.#distinct?.load(reader);
  }
}
