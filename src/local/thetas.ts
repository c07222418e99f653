/** Which θ each day has: the choices so far, and up to which day they are made. All of it is public. */
import type { Calendar, Day } from "../events/days/calendar.js";
import { parseTime } from "../events/days/duration.js";
import { ownOptions } from "../core/checks.js";
import type { LocalSettings } from "./aggregatorOptions.js";
import { checkThreshold } from "./channel.js";

/** θ from a day on. */
export interface ThetaChoice {
  /** Start of the day, in milliseconds since 1970. */
  readonly from: number;
  readonly theta: number;
}

/** Parameters that devices report with. */
export interface LocalTerms {
  /** The bound θ: values above it are clamped to it. */
  readonly threshold: number;
  /** When it may change: the end of the day, in milliseconds since 1970. */
  readonly until: number;
  /** Whether θ was chosen from reports; false: it is the bound that the first days have. */
  readonly chosen: boolean;
}

/** All choices of an aggregator. */
export interface Choices {
  /** Oldest first. */
  readonly choices: readonly ThetaChoice[];
  /** The newest day whose θ was decided. */
  readonly decided: Day | undefined;
}

/** Changes of θ that are kept. */
const HISTORY = 400;

export class Thetas {
  // Parameters
  readonly #start: number;
  readonly #max: number;
  readonly #calendar: Calendar;
  // State
  #known: Choices = { choices: [], decided: undefined };

  constructor({ start, max, calendar }: LocalSettings) {
    this.#start = start;
    this.#max = max;
    this.#calendar = calendar;
  }

  get known(): Choices {
    return this.#known;
  }

  /** Whether θ was ever chosen from reports. */
  get chosen(): boolean {
    return this.#known.choices.length > 0;
  }

  /** The newest θ, and the start of its first day. */
  get newest(): ThetaChoice {
    return this.#known.choices.at(-1) ?? { from: -Infinity, theta: this.#start };
  }

  /** Every θ so far. */
  get all(): readonly number[] {
    return [this.#start, ...this.#known.choices.map(({ theta }) => theta)];
  }

  /** θ of the day that a time lies in. */
  at(time: number): number {
    return this.#known.choices.findLast(({ from }) => from <= time)?.theta ?? this.#start;
  }

  isDecided(day: Day): boolean {
    const { decided } = this.#known;
    return decided !== undefined && decided.start >= day.start;
  }

  /** @param theta from this day on; undefined: it stays */
  decide(day: Day, theta: number | undefined): void {
    const { choices } = this.#known;
    this.#calendar.fix(day);
    const changed = theta === undefined ? choices : [...choices, { from: day.start, theta }].slice(-HISTORY);
    this.#known = { choices: changed, decided: day };
  }

  /** Takes the terms of another aggregator that decides, for the day that ends with them. */
  follow(terms: LocalTerms): void {
    const { threshold, until, chosen } = ownOptions("terms", terms, ["threshold", "until", "chosen"]);
    const theta = checkThreshold(threshold, this.#max);
    const day = this.#calendar.dayAt(parseTime("until", until) - 1);
    if (day.end !== until)
      throw new RangeError("until: expected the end of a day of the zone, as terms() has it");
    const { decided } = this.#known;
    if (decided !== undefined && day.start < decided.start) return; // of a day that is over
    if (decided?.start === day.start && this.at(day.start) !== theta)
      throw new RangeError(`follow: expected θ = ${this.at(day.start)} for this day, got ${theta}`);
    const isNew = theta !== this.at(day.start) || (chosen && !this.chosen);
    this.decide(day, isNew ? theta : undefined);
  }

  /** Merges the choices with those of another aggregator, which may know more days. */
  merged({ choices, decided }: Choices): Choices {
    const merged = new Map(this.#known.choices.map(({ from, theta }) => [from, theta]));
    for (const { from, theta } of choices) {
      const own = merged.get(from);
      if (own !== undefined && own !== theta)
        throw new RangeError(`merge: expected θ = ${own} from one day on, got a tally with θ = ${theta}`);
      merged.set(from, theta);
    }
    const all = [...merged].map(([from, theta]) => ({ from, theta })).sort((a, b) => a.from - b.from);
    return {
      choices: all.slice(-HISTORY),
      decided: decided === undefined || this.isDecided(decided) ? this.#known.decided : decided,
    };
  }

  replace(known: Choices): void {
    this.#known = known;
  }
}
