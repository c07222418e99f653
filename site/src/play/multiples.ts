/** Brume, the paper, PAK and the naive way on the same data: four small charts with one cursor and one scale. */
import { heights } from "../charts/lines.js";
import { StreamChart, streamChart } from "../charts/streamChart.js";
import type { Data } from "../data/chosen.js";
import { wordsOf } from "../data/meaning.js";
import { byId, h } from "../look/dom.js";
import { withUnit } from "../look/format.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import { WhenSeen } from "../look/whenSeen.js";
import type { FromMultiples, Part, ToMultiples } from "../workers/protocol.js";
import { type Method, METHODS, type ReleaseSettings } from "./state.js";

export interface Wanted {
  readonly data: Data;
  readonly settings: ReleaseSettings;
  readonly window: number;
  readonly at: number;
  readonly part: Part;
}

const NAMES = Object.keys(METHODS) as Method[];

export class Multiples {
  readonly #charts = new Map<Method, { chart: StreamChart; note: HTMLElement }>();
  readonly #seen = new WhenSeen<Wanted>(byId("multiples"), (wanted) => this.#start(wanted));
  #job: Job<ToMultiples> | undefined;
  #fogged = false;

  /** Clears what no longer belongs to the settings, and draws again when they rest. */
  want(wanted: Wanted | undefined): void {
    this.#job?.stop();
    for (const { chart, note } of this.#charts.values()) {
      chart.show(undefined);
      note.textContent = "";
    }
    byId("multiples-note").textContent =
      wanted === undefined ? "They are drawn when the stream pauses or ends." : "";
    this.#seen.want(wanted);
  }

  /** Lays mist over the truth, or lifts it. */
  fog(fogged: boolean): void {
    this.#fogged = fogged;
    for (const { chart } of this.#charts.values()) chart.change({ fogged });
  }

  #start(wanted: Wanted): void {
    const { data, settings, window, at, part } = wanted;
    if (this.#charts.size === 0) this.#make();
    const words = wordsOf(data.meaning);
    for (const { chart } of this.#charts.values())
      chart.change({ words, from: part.from, to: part.to, holdout: settings.holdout });
    let top = 0;
    this.#job = startJob<ToMultiples, FromMultiples>(
      () => new Worker(new URL("../workers/stream.ts", import.meta.url), { type: "module" }),
      (message) => {
        const { chart, note } = this.#charts.get(message.method)!;
        if (message.type === "failed") {
          note.textContent = message.message;
          return;
        }
        // The first one, Brume, sets the scale for all.
        if (top === 0) {
          top = 1.5 * heights(message.lines)[1];
          for (const other of this.#charts.values()) other.chart.change({ top });
        }
        chart.show(message.lines);
        note.textContent = `off by ${withUnit(message.off, data.meaning.unit)}`;
      },
      () => byId("multiples").append(failureNote(() => this.want(wanted))),
    );
    this.#job.tell({ type: "multiples", source: data.source, settings, methods: NAMES, window, at, part });
  }

  #make(): void {
    const words = wordsOf({ unit: "", sumUnit: "", pace: undefined });
    for (const method of NAMES) {
      const note = h("span", { class: "quiet small", "data-off": method });
      const place = h("div", {
        class: "chart low",
        role: "img",
        "aria-label": `${METHODS[method].name} on this data`,
      });
      byId("multiples").append(
        h(
          "figure",
          {},
          h("figcaption", {}, h("strong", {}, METHODS[method].name), " ", note),
          place,
          h("p", { class: "hint" }, METHODS[method].hint),
        ),
      );
      const options = { words, from: 0, to: 1, small: true, sync: "multiples", fogged: this.#fogged };
      const chart = streamChart(place, options);
      this.#charts.set(method, { chart, note });
    }
  }
}
