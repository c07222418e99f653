/** Counts what limits of a person would drop from a file. Exact, so private: for the eyes of those who may see the file. */
import { secretKey } from "../core/random.js";
import { Calendar, HOUR } from "../events/days/calendar.js";
import { People, type PerPerson, resolvePerPerson } from "../events/people/people.js";
import { type Arguments, UsageError } from "./command.js";
import { type EventRow, eventRows, namesOf } from "./eventRows.js";
import { openBytes } from "./input.js";
import { inputOf } from "./inputOptions.js";

/** Shares, from 0 to 1. */
export interface LimitLoss {
  /** The share that would not count: of all events, or of the sum of all values if the limit is a sum. */
  readonly notCounted: number;
  /** The share of the days of all people with something that would not count. */
  readonly limitedDays: number;
}

/** Grid units of a limit that is a sum: fine enough for a share in a table. */
const UNITS = 2 ** 20;

class Trial {
  readonly #people: People;
  readonly #unit: number | undefined;
  readonly #days = new Set<number>();
  #asked = 0;
  #granted = 0;

  constructor(limit: PerPerson) {
    const { sum, ...rest } = resolvePerPerson(limit)!;
    this.#unit = sum === undefined ? undefined : sum / UNITS;
    const most = sum === undefined ? rest.events! : UNITS;
    this.#people = new People(secretKey(), { sum, ...rest }, most);
  }

  take({ value, person }: EventRow, day: number, hour: number): void {
    const amount = this.#unit === undefined ? 1 : Math.round(Math.max(0, value!) / this.#unit);
    this.#days.add(day);
    this.#asked += amount;
    this.#granted += this.#people.admit(this.#people.hash(person!), day, hour, amount);
  }

  result(): LimitLoss {
    let [lost, all] = [0, 0];
    for (const day of this.#days) {
      const limited = this.#people.limited(day);
      lost += limited.lost;
      all += limited.lost + limited.whole;
    }
    return {
      notCounted: this.#asked === 0 ? 0 : 1 - this.#granted / this.#asked,
      limitedDays: all === 0 ? 0 : lost / all,
    };
  }
}

/** Reads the file once for all limits; undefined where there is no limit. */
export async function limitLosses(
  args: Arguments,
  path: string,
  limits: readonly (PerPerson | undefined)[],
): Promise<(LimitLoss | undefined)[]> {
  const [time, person, value] = [args.text("time"), args.text("person"), args.text("value")];
  if (time === undefined || person === undefined)
    throw new UsageError(
      `--${time === undefined ? "time" : "person"}: missing; expected with FILE, the column that says ${time === undefined ? "when an event was" : "whose an event is"}`,
    );
  if (value === undefined && limits.some((limit) => limit?.sum !== undefined))
    throw new UsageError("--value: missing; expected with FILE and a limit of a sum, the column with values");
  const trials = limits.map((limit) => (limit === undefined ? undefined : new Trial(limit)));
  const calendar = new Calendar(args.text("zone") ?? "UTC");
  const [, format, , delimiter] = inputOf(args, path);
  const unit = args.choice("time-unit", ["ms", "s"]) ?? "ms";
  const columns = { time, person, value };
  const source = openBytes(path, namesOf(columns));
  for await (const row of eventRows(source, format, columns, delimiter, unit)) {
    const { start } = calendar.dayAt(row.at);
    const hour = start + Math.floor((row.at - start) / HOUR) * HOUR;
    for (const trial of trials) trial?.take(row, start, hour);
  }
  return trials.map((trial) => trial?.result());
}
