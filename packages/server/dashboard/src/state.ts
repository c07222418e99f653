/** The choices of a reader, and how they stand in the address: a link shows the same page. */
import { choiceField, type Fields, numberField, Store, textField } from "../../../../site/src/look/state.js";
import { DAY, QUANTILES, RANGES } from "./words.js";

export interface State {
  /** Who reads: those who ask for numbers, those who run the service, those who answer for privacy. */
  readonly view: "numbers" | "operation" | "privacy";
  /** Empty: the first metric. */
  readonly metric: string;
  /** Empty: the first key. */
  readonly key: string;
  /** Milliseconds. */
  readonly range: number;
  /** When the range ends, in milliseconds since 1970; 0 for now. */
  readonly until: number;
  readonly percentile: number;
  /** The number that a day of devices shows: "mean", or a percentile's share. */
  readonly daily: string;
  /** A marked range of time, in milliseconds since 1970; none if both are equal. */
  readonly from: number;
  readonly to: number;
}

const LATEST = 8.64e15;
/** Any text: names that no metric or key has are read as the first one. */
const name = textField("", /^.{0,128}$/);

const fields: Fields<State> = {
  view: choiceField("numbers", "operation", "privacy"),
  metric: name,
  key: name,
  range: {
    initial: DAY,
    read: (text) => RANGES.map(([, length]) => length).find((length) => String(length) === text),
  },
  until: numberField(0, 0, LATEST),
  percentile: { initial: 0.95, read: (text) => QUANTILES.find((p) => String(p) === text) },
  daily: {
    initial: "mean",
    read: (text) => ["mean", ...QUANTILES.map(String)].find((word) => word === text),
  },
  from: numberField(0, 0, LATEST),
  to: numberField(0, 0, LATEST),
};

export const store = new Store(fields, location.search);
