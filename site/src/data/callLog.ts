/** The log of a helpline, made up: who called, when (by the clocks of this computer's zone), and for how many minutes. */
import seedrandom from "seedrandom";
import { type Log, sortedLog } from "./log.js";

export const CALL_LOG = {
  name: "Example: calls to a helpline, with callers and times, two weeks",
  /** 16 March 2026, a Monday. In most of Europe the last day is the one on which summer time begins. */
  start: [2026, 2, 16],
  days: 14,
  /** Callers there are, and those of a usual day. */
  callers: 30_000,
  perDay: 4000,
  /** A call ends after an hour, which is public. */
  max: 60,
} as const;

const MINUTE = 60_000; // ms
const LAST = 1439; // minute of a day
/** How busy each hour is. */
const HOURS = [5, 4, 3, 2, 2, 2, 3, 5, 7, 8, 9, 9, 8, 8, 8, 9, 11, 14, 17, 19, 20, 17, 12, 8];
const ALL_HOURS = HOURS.reduce((a, b) => a + b);
/** The evening on which television spoke of it: day, minute of the day, calls more. */
const SPIKE = { day: 9, minute: 20 * 60 + 15, calls: 900 } as const;
/** Callers with the lowest numbers call all day long; so many of them call on a day. */
const OFTEN = { callers: 60, perDay: 25 } as const;

export function callLog(): Log {
  const random = seedrandom("call log");
  const below = (n: number) => Math.floor(n * random());
  const [times, people, values]: [number[], number[], number[]] = [[], [], []];
  const call = (day: number, minute: number, person: number) => {
    const longer = day % 7 >= 5 ? 14 : 9; // weekends have longer calls
    const normal = random() + random() + random() - 1.5;
    const [year, month, first] = CALL_LOG.start;
    times.push(new Date(year, month, first + day, 0, Math.min(LAST, minute)).getTime() + below(MINUTE));
    people.push(person);
    values.push(Math.min(CALL_LOG.max, Math.max(1, Math.round(longer * Math.exp(1.3 * normal)))));
  };
  const minute = () => {
    let left = ALL_HOURS * random();
    const hour = HOURS.findIndex((weight) => (left -= weight) < 0);
    return 60 * hour + below(60);
  };
  for (let day = 0; day < CALL_LOG.days; day++) {
    const callers = Math.round(CALL_LOG.perDay * (day % 7 >= 5 ? 1.25 : 1) * (0.94 + 0.12 * random()));
    for (let i = 0; i < callers; i++) {
      const person =
        i < OFTEN.perDay ? below(OFTEN.callers) : OFTEN.callers + below(CALL_LOG.callers - OFTEN.callers);
      let calls = person < OFTEN.callers ? 4 + below(16) : 1;
      while (person >= OFTEN.callers && random() < 0.2) calls++;
      for (; calls > 0; calls--) call(day, minute(), person);
    }
    if (day === SPIKE.day)
      for (let i = 0; i < SPIKE.calls; i++)
        call(day, SPIKE.minute + Math.floor(-45 * Math.log(1 - random() * 0.93)), below(CALL_LOG.callers));
  }
  return sortedLog({
    times: Float64Array.from(times),
    people: Uint32Array.from(people),
    values: Float64Array.from(values),
  });
}
