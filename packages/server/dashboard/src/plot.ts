/** The chart of a metric: one level line for each period over its own time, with its band. */
import { type StreamChart, streamChart } from "../../../../site/src/charts/streamChart.js";
import type { Lines, Words } from "../../../../site/src/charts/lines.js";
import { byId } from "../../../../site/src/look/dom.js";
import type { Estimate, MetricInfo } from "./api.js";
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
let plotted: Plotted | undefined;

/** What is on the plot, if anything. */
export const onPlot = (): Plotted | undefined => plotted;

/** Marks a range of time on the plot; from = to clears it. */
export const mark = (from: number, to: number): void => chart?.select(from, to);

/** @param ends of the plot; @param onSelect is called with a range that was marked */
export function plot(
  spans: readonly Span[],
  period: string,
  [from, to]: readonly [number, number],
  current: MetricInfo,
  times: ZoneTimes,
  onSelect: (from: number, to: number) => void,
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
  const name = periodName(period);
  const words = {
    tick: times.tick,
    place: (time: number): string => {
      const found = spans.find((span) => span.from < time && time <= span.to);
      return found === undefined ? times.place(time) : times.span(found.from, found.to);
    },
    value: (value: number) => withUnit(value, current),
    unit: `${unitOf(current)}${["count", "people", "sum"].includes(current.type) ? ` per ${name}` : ""} · times in ${times.zone}`,
    dashed: `${name} so far`,
    steps: STEPS,
  };
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
