/** The Worker behind the percentiles: makes one timeline, then answers for parts of it. */
import { exampleStream } from "brume/research";
import type { FromEvents, ToEvents } from "./protocol.js";
import { Timeline } from "./timeline.js";

/** Percentiles that are always asked for. */
const QUANTILES = [0.5, 0.9, 0.95, 0.99];
/** Columns of the plot at most. */
const COLUMNS = 60;

let timeline: Timeline | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEvents>) => {
  try {
    if (data.type === "make") {
      const { source, at, settings } = data;
      const values = source.kind === "example" ? exampleStream(source.seed) : source.values;
      timeline = new Timeline(values.subarray(0, at), settings);
    } else send(answer(timeline!, data));
  } catch (error) {
    send({ type: "failed", message: (error as Error).message });
  }
});

function answer(line: Timeline, { part, range }: Extract<ToEvents, { type: "ask" }>): FromEvents {
  const periods = Math.max(1, Math.round((part.to - part.from) / line.perPeriod));
  const step = line.perPeriod * Math.max(1, Math.ceil(periods / COLUMNS));
  const columns = [];
  for (let from = part.from; from + step <= part.to + 1; from += step)
    columns.push(line.ask({ from, to: from + step }, QUANTILES));
  return {
    type: "moments",
    columns,
    whole: line.ask(range, QUANTILES),
    period: line.perPeriod,
    explanation: line.explanation(),
  };
}

function send(message: FromEvents): void {
  postMessage(message);
}
