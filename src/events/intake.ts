/**
 * Which tick an event goes to, if any. An event is dropped when its tick is closed, when its time is too far ahead of
 * the clock, or when its person has had all events of the period. The clock, the caller and the person's own events
 * decide; no other event has a say, and no event closes a tick.
 */
import type { Decoder, Encoder } from "../stream/codec.js";
import { eventTime, type Time } from "./duration.js";
import { checkPerson, type People } from "./people.js";
import { dueAt, horizonAt, type Schedule, startOf, tickOf } from "./ticks.js";

/** What is known of an event in addition to its value. */
export interface EventInfo {
  /** When it happened. Default: now, by the clock of the stream. */
  readonly at?: Time;
  /** Whose it is: needed with `perPerson`, refused without. */
  readonly person?: string;
}

/** Events that were not counted, by reason. Private: for the operator's eyes, never to be published. */
export interface DroppedEvents {
  /** Their tick was closed, or before the origin. */
  readonly late: number;
  /** Their time was further ahead of the clock than `skew`. */
  readonly early: number;
  /** Their person had had all events of the period. */
  readonly overLimit: number;
}

/** More ticks than this are closed in several calls: a clock that jumps by years is a mistake. */
const MOST_AT_ONCE = 2 ** 22;

export class Intake {
  readonly #schedule: Schedule;
  readonly #people: People | undefined;
  /** The oldest open tick. */
  #first = 0;
  /** The last tick that the clock let in when ticks were closed last. */
  #horizon: number;
  /** An open tick that has room, and its first and last whole millisecond: most events come in the order of time. */
  #tick = -1;
  #from = Infinity;
  #last = -Infinity;
  #late = 0;
  #early = 0;
  #overLimit = 0;

  constructor(schedule: Schedule, people: People | undefined) {
    this.#schedule = schedule;
    this.#people = people;
    this.#horizon = horizonAt(schedule, schedule.clock());
  }

  /** Closed ticks. */
  get closed(): number {
    return this.#first;
  }

  get dropped(): DroppedEvents {
    return { late: this.#late, early: this.#early, overLimit: this.#overLimit };
  }

  /**
   * The tick of an event, or −1 if it is dropped. Throws, and changes nothing, where time or person make no sense.
   * All code of the caller (the clock, getters of the event) runs before anything is looked at.
   * @param prepare makes room in a tick until it is closed: it runs before an event is counted for its person, and may fail
   */
  admit(event: EventInfo | undefined, prepare: (tick: number) => void): number {
    const { at: time, person } = ownFields(event);
    if (this.#people !== undefined) checkPerson(person);
    else if (person !== undefined)
      throw new TypeError(
        "person: expected none without perPerson; set perPerson to protect people, or leave the id away",
      );
    const at = time === undefined ? this.#schedule.clock() : eventTime(time);
    const tick = at >= this.#from && at <= this.#last ? this.#tick : this.#find(at, prepare);
    if (tick < 0) return -1;
    if (this.#people?.admit(person as string, at) === false) {
      this.#overLimit++;
      return -1;
    }
    return tick;
  }

  /** The open tick that a time lies in, with room made, or −1 if events of that time are dropped. */
  #find(at: number, prepare: (tick: number) => void): number {
    const tick = tickOf(this.#schedule, at);
    // Beyond the last reading of the clock it is read again, and not remembered: no event moves it for others.
    const horizon = tick > this.#horizon ? horizonAt(this.#schedule, this.#schedule.clock()) : this.#horizon;
    if (tick < this.#first) {
      this.#late++;
      return -1;
    }
    if (tick > horizon) {
      this.#early++;
      return -1;
    }
    prepare(tick);
    if (tick <= this.#horizon) {
      this.#tick = tick;
      this.#from = startOf(this.#schedule, tick);
      this.#last = this.#from + this.#schedule.every - 1;
    }
    return tick;
  }

  /** The ticks [from, to) that are to be closed at `now`. */
  due(now: number): readonly [from: number, to: number] {
    const to = Math.max(this.#first, dueAt(this.#schedule, now));
    if (to - this.#first > MOST_AT_ONCE)
      throw new RangeError(
        `advance: expected at most 2^22 ticks at a time, got ${to - this.#first}; check the clock, or advance in steps`,
      );
    return [this.#first, to];
  }

  /** Closes all ticks before `tick`. */
  closeBefore(tick: number, now: number): void {
    this.#first = tick;
    this.#from = Infinity;
    this.#horizon = Math.max(this.#horizon, horizonAt(this.#schedule, now));
    this.#people?.forgetBefore(startOf(this.#schedule, tick));
  }

  /** The last tick that the clock lets in now. Runs the caller's clock. */
  horizon(): number {
    return Math.max(this.#horizon, horizonAt(this.#schedule, this.#schedule.clock()));
  }

  /** @param horizon the last tick that the clock lets in */
  save(writer: Encoder, horizon: number): void {
    writer.double(this.#schedule.origin);
    for (const count of [this.#first, this.#late, this.#early, this.#overLimit]) writer.double(count);
    const [from, to] = [this.#first, horizon + 1].map((tick) => startOf(this.#schedule, tick));
    this.#people?.save(writer, from!, to!);
  }

  /** What `save` wrote, but for the origin, which the schedule has. */
  load(reader: Decoder): void {
    this.#first = reader.double();
    this.#late = reader.double();
    this.#early = reader.double();
    this.#overLimit = reader.double();
    this.#people?.load(reader);
  }
}

/** What an event says of itself, each field read once. A field that someone put on a prototype is not the event's. */
export function ownFields(event: EventInfo | undefined): OwnFields {
  if (event === undefined || isPlain(event)) return event ?? NOTHING;
  const read = (name: keyof EventInfo) => (Object.hasOwn(event, name) ? event[name] : undefined);
  return { at: read("at"), person: read("person") } as OwnFields;
}

type OwnFields = { readonly [Name in keyof EventInfo]?: EventInfo[Name] | undefined };

const NOTHING: OwnFields = Object.freeze({ at: undefined, person: undefined });

/**
 * Whether all fields of an event are its own: asked without a look-up by name, which would cost more than all of `add`.
 * `in` comes first: after it the engine knows the object's shape, and with it the prototype.
 */
function isPlain(event: object): boolean {
  if (typeof event !== "object" || (event as unknown) === null)
    throw new TypeError("event: expected an object such as { at, person }; the event was not taken");
  if (!("at" in event) && !("person" in event)) return true;
  return Object.getPrototypeOf(event) === base && !("at" in base) && !("person" in base);
}

const base: object = Object.prototype;
