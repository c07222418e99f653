/**
 * The Worker behind the percentiles: makes one timeline, then answers for parts of it. Logs start one of their own from the
 * same file, so that a page loads the library's event streams once for both.
 */
import { exampleStream } from "brume-research";
import { hearLog } from "./log.js";
import type { FromEvents, Part, ToEvents, ToLog } from "./protocol.js";
import { type Moment, Timeline } from "./timeline.js";

/** Percentiles that are always asked for. */
const QUANTILES = [0.5, 0.9, 0.95, 0.99];
/** Columns of the plot at most, and when no longer ones are tried. */
const COLUMNS = 60;
const FEWEST = 4;
/** The share of columns that should have a median. */
const KNOWN = 0.75;

let timeline: Timeline | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEvents | { readonly log: ToLog }>) => {
  if ("log" in data) return hearLog(data.log);
  try {
    if (data.type === "make") {
      const { source, at, settings } = data;
      const values = source.kind === "example" ? exampleStream(source.seed) : source.values;
      timeline = new Timeline(values.subarray(0, at), settings);
    } else if (data.type === "runs") send({ type: "runs", runs: [timeline!.again(data.range, data.p)] });
    else send(answer(timeline!, data));
  } catch (error) {
    send({ type: "failed", message: (error as Error).message });
  }
});

function answer(line: Timeline, { part, range }: Extract<ToEvents, { type: "ask" }>): FromEvents {
  return {
    type: "moments",
    columns: columnsOf(line, part),
    whole: line.ask(range, QUANTILES),
    period: line.perPeriod,
    explanation: line.explanation(),
  };
}

/** As many columns as have medians: twice as long ones while the noise hides most of them. */
function columnsOf(line: Timeline, part: Part): Moment[] {
  const periods = Math.max(1, Math.round((part.to - part.from) / line.perPeriod));
  for (let most = COLUMNS; ; most = Math.ceil(most / 2)) {
    const step = line.perPeriod * Math.max(1, Math.ceil(periods / most));
    const columns: Moment[] = [];
    for (let from = part.from; from + step <= part.to + 1; from += step)
      columns.push(line.ask({ from, to: from + step }, QUANTILES));
    const known = columns.filter(({ quantiles: [median] }) => median!.value !== undefined).length;
    if (most <= FEWEST || known >= KNOWN * columns.length) return columns;
  }
}

function send(message: FromEvents): void {
  postMessage(message);
}
