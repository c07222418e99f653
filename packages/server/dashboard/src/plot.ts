/** The chart of a metric: one level line for each period over its own time, with its band. */
import { type StreamChart, streamChart } from "../../../../site/src/charts/streamChart.js";
import type { Lines, Words } from "../../../../site/src/charts/lines.js";
import { byId } from "../../../../site/src/look/dom.js";
import type { Estimate, MetricInfo } from "./api.js";
import { store } from "./state.js";
import { periodName, plausible, STEPS, unitOf, withUnit, type ZoneTimes } from "./words.js";

/** A period as it is drawn: no line without a value, no band without `high`. */
export interface Span extends Estimate {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** The running one is dashed. */
  readonly running: boolean;
}

/** A chart as it can be drawn again, as a picture. */
export interface Plotted {
  readonly words: Words;
  readonly from: number;
  readonly to: number;
  readonly lines: Lines;
}

let chart: StreamChart | undefined;
let drawn: {
  readonly spans: readonly Span[];
  readonly period: string;
  readonly current: MetricInfo;
  readonly times: ZoneTimes;
};

/** One object for all that is drawn: with other words the chart would be made anew, and a range that is being dragged lost. */
const words: Words = {
  tick: (time) => drawn.times.tick(time),
  place: (time) => {
    const { spans, times } = drawn;
    const found = spans.find((span) => span.from < time && time <= span.to);
    return found === undefined ? times.place(time) : times.span(found.from, found.to);
  },
  value: (value) => withUnit(value, drawn.current),
  get unit() {
    const { period, current, times } = drawn;
    const per = ["count", "people", "sum"].includes(current.type) ? ` per ${periodName(period)}` : "";
    return `${unitOf(current)}${per} · times in ${times.zone}`;
  },
  get dashed() {
    return `${periodName(drawn.period)} so far`;
  },
  steps: STEPS,
};
let plotted: Plotted | undefined;

/** The chart that is shown now; undefined before the first. */
export const onPlot = (): Plotted | undefined => plotted;

/** Marks a range of time on the plot; from = to clears it. */
export const mark = (from: number, to: number): void => chart?.select(from, to);

/** Marks a range of time; from = to clears it. Of devices there is none. */
const onSelect = (from: number, to: number): void =>
  drawn.current.type === "local" ? mark(0, 0) : store.set({ from, to });

/** @param ends of the plot */
export function plot(
  spans: readonly Span[],
  period: string,
  [from, to]: readonly [number, number],
  current: MetricInfo,
  times: ZoneTimes,
): void {
  /** Both ends of every period, milliseconds late so that positions ascend; the running one is set apart by a gap. */
  const line = (of: (span: Span) => number | null): Float64Array =>
    Float64Array.from(
      spans.flatMap((span) => {
        const found = of(span);
        const height = found === null ? NaN : plausible(found, current);
        return [span.running ? NaN : height, height, height];
      }),
    );
  drawn = { spans, period, current, times };
  const options = { words, from, to, onSelect };
  if (chart === undefined) chart = streamChart(byId("chart"), options);
  else chart.change(options);
  const lines: Lines = {
    x: Float64Array.from(
      spans.flatMap((span) => [span.from + 1, span.from + 2, Math.max(span.from + 3, span.to)]),
    ),
    private: line(({ running, value }) => (running ? null : value)),
    prediction: line(({ running, value }) => (running ? value : null)),
    low: line(({ low, high }) => (high === null ? null : (low ?? 0))),
    high: line(({ high }) => high),
  };
  chart.show(lines);
  plotted = { words, from, to, lines };
}
