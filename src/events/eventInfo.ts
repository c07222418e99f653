/** Facts about an event beside its value, and counters of events that are dropped. */
import type { Time } from "./days/duration.js";

/** Time and person of an event, in addition to its value. */
export interface EventInfo {
  /** When it happened. Default: now, by the clock of the stream. */
  readonly at?: Time;
  /** Whose it is: needed with `perPerson`, rejected without. */
  readonly person?: string;
}

/** Events that were not counted, by reason. Private: for the operator's eyes, never to be published. */
export interface DroppedEvents {
  /** Their period was closed, or had begun before the stream did. */
  readonly late: number;
  /** Their time was further ahead of the clock than `skew`. */
  readonly early: number;
  /** Their person had reached the limit of the day or the hour. */
  readonly overLimit: number;
}

/** Reads the fields of an event, each once. A field that someone put on a prototype is not the event's. */
export function ownFields(event: EventInfo | undefined): OwnFields {
  if (event === undefined) return NOTHING;
  return isPlain(event) ? event : copyOf(event);
}

type OwnFields = { readonly [Name in keyof EventInfo]?: EventInfo[Name] | undefined };

const NOTHING: OwnFields = Object.freeze({ at: undefined, person: undefined });

/**
 * Whether all fields of an event are its own: asked without a look-up by name, which would cost more than all of `add`.
 * `in` comes first: after it the engine knows the object's shape, and with it the prototype.
 */
function isPlain(event: object): boolean {
  return (
    isObject(event) &&
    ("at" in event || "person" in event) &&
    Object.getPrototypeOf(event) === base &&
    !("at" in base) &&
    !("person" in base)
  );
}

const isObject = (event: unknown): boolean => typeof event === "object" && event !== null;

function copyOf(event: EventInfo): OwnFields {
  if (!isObject(event))
    throw new TypeError("event: expected an object such as { at, person }; the event was not taken");
  const read = (name: keyof EventInfo) => (Object.hasOwn(event, name) ? event[name] : undefined);
  return { at: read("at"), person: read("person") } as OwnFields;
}

const base: object = Object.prototype;
