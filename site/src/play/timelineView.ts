/** Percentiles, counts and means over time: the same values as events, published by the library's event streams. */
import type { Lines } from "../charts/lines.js";
import { type StreamChart, streamChart } from "../charts/streamChart.js";
import { exampleMeaning, type Meaning, place, span, wordsOf } from "../data/meaning.js";
import { Coverage, type Run } from "../look/coverage.js";
import { byId, h } from "../look/dom.js";
import { amount, count, withUnit } from "../look/format.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import type { Store } from "../look/state.js";
import { WhenSeen } from "../look/whenSeen.js";
import type { FromEvents, Part, ToEvents } from "../workers/protocol.js";
import type { Estimate, Moment, TimedQuantile, TimelineSettings } from "../workers/timeline.js";
import type { Wanted } from "./multiples.js";
import type { State } from "./state.js";

/** When a stream without dates begins: any midnight will do. */
const MIDNIGHT = Date.UTC(2024, 0, 1);

type Moments = Extract<FromEvents, { type: "moments" }>;

export class TimelineView {
  readonly #store: Store<State>;
  readonly #seen: WhenSeen<Wanted & { readonly range: Part }>;
  /** Made when somebody first sees it. */
  #chart: StreamChart | undefined;
  #fogged = false;
  #job: Job<ToEvents> | undefined;
  /** Data and settings that the running job was made for, as JSON. */
  #made = "";
  #meaning: Meaning = exampleMeaning;
  #moments: Moments | undefined;
  /** The range of the table. */
  #range: Part = { from: 0, to: 0 };
  readonly #runs = new Coverage(
    byId("timeline-runs"),
    "The percentile of the range above, with fresh noise each time",
    () => this.#repeat(),
  );
  #hearRuns: (runs: readonly Run[]) => void = () => undefined;

  constructor(store: Store<State>) {
    this.#store = store;
    this.#seen = new WhenSeen(byId("timeline"), (wanted) => this.#begin(wanted));
    store.subscribe((state, before) => {
      if (state.percentile === before.percentile) return;
      this.#runs.reset();
      this.#draw();
    });
    this.want(undefined);
  }

  /** Clears what no longer belongs to the settings; percentiles follow when they rest and are seen. */
  want(wanted: Wanted | undefined): void {
    this.#moments = undefined;
    this.#runs.reset();
    this.#runs.allow(false);
    this.#chart?.show(undefined);
    byId("timeline-table").replaceChildren();
    this.#say(wanted === undefined ? "Percentiles follow when the stream pauses or ends." : "Publishing…");
    if (wanted === undefined) return this.#seen.want(undefined);
    const { from, to } = this.#store.state;
    const end = Math.min(to, wanted.at);
    this.#seen.want({ ...wanted, range: from < end ? { from, to: end } : { from: 0, to: wanted.at } });
  }

  /** Lays mist over the truth, or lifts it. */
  fog(fogged: boolean): void {
    this.#fogged = fogged;
    this.#chart?.change({ fogged });
  }

  #begin({ data, settings, at, part, range }: Wanted & { readonly range: Part }): void {
    const { epsilon, max, noise, seed } = settings;
    this.#meaning = data.meaning;
    const { pace = 1, start = MIDNIGHT } = data.meaning;
    const own: TimelineSettings = { epsilon, max, pace, start, ...(noise === "seed" ? { seed } : {}) };
    const made = JSON.stringify([data.name, data.source.kind, own, at]);
    if (this.#job === undefined || made !== this.#made) {
      this.#job?.stop();
      this.#hearRuns([]);
      this.#made = made;
      this.#job = startJob<ToEvents, FromEvents>(
        () => new Worker(new URL("../workers/events.ts", import.meta.url), { type: "module" }),
        (message) => this.#hear(message),
        () => {
          this.#job = undefined;
          byId("timeline-chart").before(
            failureNote(() => this.#begin({ data, settings, at, part, range, window: 0 })),
          );
        },
      );
      this.#job.tell({ type: "make", source: data.source, settings: own, at });
    }
    const shown = { from: part.from, to: Math.min(part.to, at) };
    const view = { words: wordsOf(data.meaning), from: part.from, to: part.to, fogged: this.#fogged };
    if (this.#chart === undefined) this.#chart = streamChart(byId("timeline-chart"), view);
    else this.#chart.change(view);
    this.#range = range;
    this.#job.tell({ type: "ask", part: shown, range });
  }

  #repeat(): Promise<readonly Run[]> {
    const p = Number(this.#store.state.percentile) / 100;
    this.#job?.tell({ type: "runs", range: this.#range, p });
    return new Promise((resolve) => (this.#hearRuns = resolve));
  }

  #hear(message: FromEvents): void {
    if (message.type === "failed") return this.#say(message.message);
    if (message.type === "runs") return this.#hearRuns(message.runs);
    this.#moments = message;
    this.#runs.allow(true);
    this.#draw();
  }

  #draw(): void {
    if (this.#moments === undefined) return;
    const { columns, whole, period, explanation } = this.#moments;
    const p = Number(this.#store.state.percentile) / 100;
    this.#chart!.show(linesOf(columns, p, this.#store.state.max));
    const each = columns[0] === undefined ? "" : span(columns[0].to - columns[0].from, this.#meaning);
    this.#say(
      `The ${100 * p}th percentile of every ${each}, with its 95 % interval. A period is ${span(period, this.#meaning)}.`,
    );
    const { above } = whole;
    const bound = withUnit(this.#store.state.max, this.#meaning.unit);
    byId("timeline-table").replaceChildren(
      this.#table(whole),
      ...(above === 0
        ? []
        : [
            h(
              "p",
              { class: "hint" },
              `${count(above)} of these values are above ${bound}. The mean takes them as ${bound}, so it may miss the truth: raise the bound.`,
            ),
          ]),
    );
    byId("timeline-explained").textContent = explanation;
  }

  #table({ from, to, count: total, mean, quantiles }: Moment): HTMLElement {
    const { unit } = this.#meaning;
    const range = `${place(from, this.#meaning)} to ${place(to, this.#meaning)}`;
    const head = [range, "Private", "95 % interval", "Truth"].map((text) => h("th", { scope: "col" }, text));
    return h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head)),
      h(
        "tbody",
        {},
        ...(total === undefined ? [] : [row("values", total, count)]),
        ...(mean === undefined ? [] : [row("mean", mean, (value) => withUnit(value, unit))]),
        ...quantiles.map((quantile) => row(`${100 * quantile.p} %`, quantile, (v) => withUnit(v, unit))),
      ),
    );
  }

  #say(words: string): void {
    byId("timeline-note").textContent = words;
  }
}

function row(name: string, found: Estimate | TimedQuantile, write: (value: number) => string): HTMLElement {
  const end = (value: number | undefined, open: string) => (value === undefined ? open : amount(value));
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", {}, found.value === undefined ? "too few values to tell" : write(found.value)),
    h("td", {}, `${end(found.low, "open")} to ${end(found.high, "open")}`),
    h("td", {}, h("span", { class: "secret" }, write(found.truth))),
  );
}

/** @param max stands for an open upper end */
function linesOf(columns: readonly Moment[], p: number, max: number): Lines {
  const found = columns.map(({ quantiles }) => quantiles.find((quantile) => quantile.p === p)!);
  const line = (at: (quantile: TimedQuantile) => number | undefined) =>
    Float64Array.from(found, (quantile) => at(quantile) ?? NaN);
  const known = (quantile: TimedQuantile, end: number) => (quantile.value === undefined ? undefined : end);
  return {
    x: Float64Array.from(columns, ({ to }) => to),
    secret: line(({ truth }) => truth),
    private: line(({ value }) => value),
    low: line((quantile) => known(quantile, quantile.low ?? 0)),
    high: line((quantile) => known(quantile, quantile.high ?? max)),
  };
}
