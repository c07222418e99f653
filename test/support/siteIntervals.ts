/** Every answer that a page of the site shows with "95 %", as the page's own Worker code gives it, once per seed. */
import type { Run } from "../../site/src/look/coverage.js";
import { readState } from "../../site/src/look/state.js";
import { callLog } from "../../site/src/data/callLog.js";
import { logBetween } from "../../site/src/data/log.js";
import { FIELDS, logSettings, releaseSettings } from "../../site/src/play/state.js";
import { runs } from "../../site/src/story/questions.js";
import { bandRun, DeviceDay, loadTimes } from "../../site/src/workers/deviceDay.js";
import { LogPlayer, QUESTIONS } from "../../site/src/workers/logPlayer.js";
import { Player } from "../../site/src/workers/player.js";
import { Timeline } from "../../site/src/workers/timeline.js";
import { exampleStream } from "../../src/cli/example.js";

/** One answer or several that one release gives, by name. */
export type Answers = (
  seed: string,
) => Promise<Readonly<Record<string, Run>>> | Readonly<Record<string, Run>>;

const values = exampleStream("brume");

const story = (epsilon: number): Answers => {
  const names = {
    helpline: "a day of calls",
    weeks: "noise on seven weeks",
    result: "seven weeks with what θ cuts off",
  };
  return (seed) =>
    Object.fromEntries(
      Object.entries(names).map(([which, name]) => [
        name,
        runs(which as keyof typeof names, epsilon, 1, seed)[0]!,
      ]),
    );
};

const lab = (query: string): Answers => {
  const state = readState(FIELDS, query);
  const player = new Player(values.subarray(0, 150_000), releaseSettings(state), state.window);
  player.advance(150_000);
  return (seed) => ({
    "a range": player.runs({ from: 81_920, to: 139_264 }, 1, { seed })[0]!,
    "a short range": player.runs({ from: 100_000, to: 101_000 }, 1, { seed })[0]!,
  });
};

/** A short part: a timeline of all values takes a second. */
const percentiles: Answers = (seed) => {
  const settings = { epsilon: 1, max: 1000, pace: 1, start: Date.UTC(2024, 0, 1), seed };
  const timeline = new Timeline(values.subarray(20_000, 22_000), settings);
  const { count, mean, quantiles } = timeline.ask({ from: 200, to: 1800 }, [0.5, 0.9, 0.95, 0.99]);
  return {
    values: count!,
    mean: mean!,
    ...Object.fromEntries(
      quantiles.map(({ p, low = -Infinity, high = Infinity, truth }) => [
        `${100 * p} %`,
        { low, high, truth },
      ]),
    ),
  };
};

/** The example of events up to the middle of its fourth day, so that a day runs; a range of part of a day and a whole one. */
const events = (query: string): Answers => {
  const all = callLog();
  const settings = logSettings(readState(FIELDS, query), { people: true, values: true });
  const { start, days } = new LogPlayer(all, settings);
  const span = { from: start, to: days[3]!.to };
  const log = logBetween(all, span.from, span.to);
  const range = { from: start + 15 * HOUR, to: days[1]!.to };
  return (seed) => {
    const player = new LogPlayer(log, { ...settings, seed }, span);
    player.advance(days[3]!.from + 13.5 * HOUR);
    const found = player.answers(range);
    return Object.fromEntries(
      QUESTIONS.flatMap((question) => {
        const answer = found[question];
        return answer === undefined ? [] : [[EVENT_NAMES[question], answer]];
      }),
    );
  };
};

const HOUR = 3_600_000;
const EVENT_NAMES = {
  total: "all so far",
  day: "the last day",
  period: "the last period",
  range: "a range",
  limited: "people over the limit",
} as const;

const devices: Answers = async (seed) => {
  const loads = loadTimes(4000, 10_000);
  const day = await DeviceDay.begin(loads, { epsilon: 2, max: 10_000, seed });
  day.take(loads.length);
  const known = await day.ask();
  return {
    mean: known.mean,
    ...Object.fromEntries(known.percentiles.map((found) => [`${100 * found.p} %`, found])),
    histogram: bandRun(known),
  };
};

export const SITE_INTERVALS: Readonly<Record<string, Answers>> = {
  "story, ε = 0.1": story(0.1),
  "story, ε = 2": story(2),
  "lab, ε = 0.05": lab(""),
  "lab, ε = 10": lab("epsilon=10"),
  "lab, the paper's system": lab("method=paper"),
  "lab, PAK": lab("method=pak"),
  "lab, noise on every value": lab("method=naive"),
  "lab, percentiles": percentiles,
  "lab, events of people": events(""),
  "lab, minutes of people": events("of=sum&limit=2&dayEpsilon=0.3"),
  "lab, single events": events("protect=event&every=15m"),
  devices,
};

/** How many of so many seeds gave an interval that holds the truth, by page and answer. */
export async function countHeld(
  answers: Answers,
  count: number,
  first = 0,
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  for (let i = first; i < first + count; i++)
    for (const [name, { low, high, truth }] of Object.entries(await answers(`interval ${i}`)))
      held.set(name, (held.get(name) ?? 0) + (low <= truth && truth <= high ? 1 : 0));
  return held;
}
