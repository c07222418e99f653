/** Public facts about a stream, besides its values: name, units, pace, labels. */
import { EXAMPLE } from "brume-research";
import type { Words } from "../charts/lines.js";
import { count, duration, withUnit } from "../look/format.js";

export interface Meaning {
  /** Unit of one value and of a mean, as "queries/s". */
  readonly unit: string;
  /** Unit of a sum of values, as "queries". */
  readonly sumUnit: string;
  /** Seconds between values, where they come at a steady pace. */
  readonly pace: number | undefined;
  /** Time of the first value, in milliseconds since 1970, where it is known. */
  readonly start?: number;
}

export const exampleMeaning: Meaning = { unit: "queries/s", sumUnit: "queries", pace: 1 };
export const EXAMPLE_NAME = "Example: DNS queries per second, 12 days";
export const EXAMPLE_LENGTH: number = EXAMPLE.length;

const DAY = 86_400;
const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10_800, 21_600, 43_200].concat(
  [1, 2, 4, 7, 14, 30, 91, 365].map((days) => days * DAY),
);

/** How long a number of values lasts, or just how many there are. */
export function span(values: number, { pace }: Meaning): string {
  if (pace === undefined) return `${count(values)}\u00a0${values === 1 ? "value" : "values"}`;
  return duration(values * pace);
}

const two = (n: number) => String(n).padStart(2, "0");

/** A place in the stream: "day 3, 14:05", a date, or "value 12,345". */
export function place(position: number, { pace, start }: Meaning): string {
  if (pace === undefined) return `value ${count(position)}`;
  if (start !== undefined)
    return new Date(start + position * pace * 1000).toISOString().slice(0, 16).replace("T", " ");
  const minutes = Math.floor((position * pace) / 60);
  return `day ${Math.floor(minutes / 1440) + 1}, ${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}

/** "day 3", "06:00" within a day, a date, or a position. */
function tick(position: number, { pace, start }: Meaning): string {
  if (pace === undefined) return count(position);
  const seconds = position * pace;
  if (start !== undefined) {
    const text = new Date(start + seconds * 1000).toISOString();
    return text.slice(11, 16) === "00:00" ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
  }
  if (seconds % DAY === 0) return `day ${seconds / DAY + 1}`;
  const within = seconds % DAY;
  const time = `${two(Math.floor(within / 3600))}:${two(Math.floor(within / 60) % 60)}`;
  return within % 60 === 0 ? time : `${time}:${two(Math.floor(within % 60))}`;
}

/** The words of a chart of this stream: the same object for the same meaning. */
export function wordsOf(meaning: Meaning): Words {
  let words = known.get(meaning);
  if (words === undefined) known.set(meaning, (words = makeWords(meaning)));
  return words;
}

const known = new WeakMap<Meaning, Words>();

function makeWords(meaning: Meaning): Words {
  const { pace, unit } = meaning;
  return {
    unit,
    tick: (position) => tick(position, meaning),
    place: (position) => place(position, meaning),
    value: (value) => withUnit(value, unit),
    ...(pace === undefined ? {} : { steps: STEPS.map((seconds) => seconds / pace).filter((n) => n >= 1) }),
  };
}
