/** How often intervals of a release hold the truth, over draws of the noise on fixed data. A draw costs no events. */
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { eventAnswer } from "../../src/events/answer/answers.js";
import { DAY } from "../../src/events/days/calendar.js";
import { EventMetric } from "../../src/events/eventMetric.js";
import type { EventSettings } from "../../src/events/eventSettings.js";
import { type EventStreamOptions, type HistogramOptions, resolveEvents } from "../../src/events/options.js";
import type { Range } from "../../src/events/answer/queries.js";

export const BEGAN = Date.UTC(2026, 2, 2);
const core = chooseCore("wasm");

type Options = EventStreamOptions | HistogramOptions;

const known = new WeakMap<Options, EventSettings>();

/** Settings, resolved once for the same options. */
function settingsOf(options: Options, began: number): EventSettings {
  let settings = known.get(options);
  if (settings === undefined)
    known.set(options, (settings = resolveEvents({ ...options, clock: () => began })));
  return settings;
}

const keys = new Map<number, Uint32Array>();

/** The key of a draw, made once: a seed costs more than the noise of a day. */
function keyOf(draw: number): Uint32Array {
  let key = keys.get(draw);
  if (key === undefined) keys.set(draw, (key = unsafeKey(`draw ${draw}`)));
  return key;
}

/** A release whose periods have these true sums, closed, with the noise of one draw. @param began a midnight */
export function drawn(
  options: Options,
  columns: readonly (readonly number[])[],
  draw: number,
  began: number = BEGAN,
): EventMetric {
  const settings = settingsOf(options, began);
  const key = keyOf(draw);
  const metric = new EventMetric(
    settings,
    core,
    { people: key.slice(4), own: key, release: () => key },
    began,
    [""],
  );
  const every = settings.schedule.levels[0]!;
  const release = metric.release("")!;
  columns.forEach((sums, column) => sums.forEach((sum, i) => release.add(began + i * every, column, sum)));
  const end = began + columns[0]!.length * every;
  while (metric.closeNext(end, end) !== undefined);
  return metric;
}

/** Σ of the true sums of a column over a range. */
const truthOf = (sums: readonly number[], [from, to]: Range, every: number): number =>
  sums.slice((from - BEGAN) / every, (to - BEGAN) / every).reduce((total, n) => total + n, 0);

/** Per question about hourly counts, the share of draws whose interval holds the truth. @param reachOf for broken siblings */
export function coverage(
  options: EventStreamOptions,
  counts: readonly number[],
  questions: Readonly<Record<string, Range>>,
  draws: number,
  reachOf: (low: number, high: number) => number = (low, high) => (high - low) / 2,
): Record<string, number> {
  const every = DAY / 24;
  const hits = Object.fromEntries(Object.keys(questions).map((name) => [name, 0]));
  for (let draw = 0; draw < draws; draw++) {
    const metric = drawn(options, [counts], draw);
    for (const [name, range] of Object.entries(questions)) {
      const { value, low, high } = eventAnswer(metric, metric.release(""), range, 0.95);
      const truth = truthOf(counts, range, every);
      if (Math.abs(truth - value!) <= reachOf(low!, high!) + 1e-9) hits[name]!++;
    }
  }
  return Object.fromEntries(Object.entries(hits).map(([name, count]) => [name, count / draws]));
}
