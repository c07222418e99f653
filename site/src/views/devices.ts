/** The second view: many browsers report noisy values, and a server that nobody trusts publishes their stream. */
import { byId, h } from "../look/dom.js";
import { count, span, withUnit } from "../look/format.js";
import { DistributionPlot } from "../plots/distribution.js";
import { StreamPlot } from "../plots/stream.js";
import type { Store } from "../state.js";
import type { FromDevices, ToDevices } from "../workers/protocol.js";
import { answerTable } from "./answer.js";
import { bindControls } from "./controls.js";
import type { DataChoice } from "./data.js";

type Step = "learn" | "estimate" | "release";

/** EM has no end that is known beforehand; this many updates fill nine tenths of its bar. */
const USUAL_UPDATES = 400;

export class DevicesView {
  readonly #store: Store;
  readonly #choice: DataChoice;
  #distribution: DistributionPlot | undefined;
  #stream: StreamPlot | undefined;
  #worker: Worker | undefined;
  #asked: ToDevices | undefined;

  constructor(store: Store, choice: DataChoice) {
    this.#store = store;
    this.#choice = choice;
    bindControls(byId("device-controls"), store);
    byId("devices-run").addEventListener("click", () => this.#run());
    byId("devices-stop").addEventListener("click", () => this.#end("Stopped."));
    byId<HTMLButtonElement>("devices-run").disabled = false;
    this.#run();
  }

  #run(): void {
    const { devices, deviceEpsilon, learners, estimator, max } = this.#store.state;
    const { source, total, meaning } = this.#choice.data;
    const many = Math.min(devices, total);
    this.#asked = {
      source,
      max,
      devices: many,
      learners: Math.max(1, Math.round((many * learners) / 100)),
      epsilon: deviceEpsilon,
      estimator,
      window: Math.max(1, Math.round(many / 60)),
    };
    this.#end("");
    this.#worker = new Worker(new URL("../workers/devices.ts", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromDevices>) => this.#hear(data));
    this.#worker.addEventListener("error", ({ message }) => this.#fail(message));
    this.#worker.postMessage(this.#asked);
    byId<HTMLButtonElement>("devices-run").textContent = "Start again";
    byId<HTMLButtonElement>("devices-stop").disabled = false;
    byId("devices-error").textContent = "";
    byId("devices-answer").replaceChildren(h("p", { class: "empty" }, "Shown when the stream is complete."));
    const options = { meaning, total: many, holdout: this.#asked.learners, heldLabel: "learned from" };
    if (this.#stream === undefined) this.#stream = new StreamPlot(byId("devices-plot"), options);
    else this.#stream.change(options);
  }

  #hear(message: FromDevices): void {
    const { meaning } = this.#choice.data;
    switch (message.type) {
      case "learning":
        return this.#step("learn", message.done / message.of, `${count(message.done)} reports`);
      case "estimating":
        this.#plotOf().show(message.histogram, undefined, meaning.unit);
        return this.#step(
          "estimate",
          (0.9 * message.updates) / (message.updates + USUAL_UPDATES),
          `${count(message.updates)} EM updates`,
        );
      case "threshold":
        this.#plotOf().show(message.histogram, message.threshold, meaning.unit);
        return this.#step(
          "estimate",
          1,
          `${count(message.updates)} EM updates, θ = ${withUnit(message.threshold, meaning.unit)}`,
        );
      case "releasing": {
        this.#stream!.show(message);
        const of = this.#asked!.devices - this.#asked!.learners;
        return this.#step("release", message.published / of, `${count(message.published)} values`);
      }
      case "done":
        this.#finish(message);
        return;
      case "failed":
        return this.#fail(message.message);
    }
  }

  #plotOf(): DistributionPlot {
    if (this.#distribution === undefined) {
      const container = byId("distribution-plot");
      container.replaceChildren();
      this.#distribution = new DistributionPlot(container);
    }
    return this.#distribution;
  }

  #finish({ truth, clamped, sum, low, high, explanation }: Extract<FromDevices, { type: "done" }>): void {
    const { meaning } = this.#choice.data;
    const { devices, learners, window } = this.#asked!;
    byId("devices-answer").replaceChildren(
      answerTable(truth, sum, low, high, devices - learners, meaning),
      h(
        "p",
        { class: "hint" },
        `From ${count(devices - learners)} reports. Upwards the error includes what clamping to θ was expected to hide; in truth it hides ${Number(((100 * clamped) / truth).toPrecision(2))} % of this sum. The plot shows moving averages over ${span(window, meaning)}.`,
      ),
      h("details", { class: "account" }, h("summary", {}, "The whole account"), h("pre", {}, explanation)),
    );
    this.#worker?.terminate();
    byId<HTMLButtonElement>("devices-stop").disabled = true;
  }

  #fail(message: string): void {
    byId("devices-error").textContent = message;
    this.#end("");
  }

  /** Ends what runs; its bars say why, or are emptied for the next run. */
  #end(note: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    byId<HTMLButtonElement>("devices-stop").disabled = true;
    for (const step of ["learn", "estimate", "release"] as const)
      if (note === "") this.#step(step, 0, "");
      else if (this.#bar(step).value < 1) this.#step(step, this.#bar(step).value, note);
  }

  #bar(step: Step): HTMLProgressElement {
    return document.querySelector<HTMLProgressElement>(`[data-step=${step}] progress`)!;
  }

  #step(step: Step, share: number, note: string): void {
    this.#bar(step).value = share;
    document.querySelector(`[data-step=${step}] output`)!.textContent = note;
  }
}
