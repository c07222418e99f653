/** The third view: how far off each method is, at each ε, on the chosen data. */
import type { TrialResult } from "../../../research/evaluate.js";
import { meanAndSd, median } from "../../../research/metrics.js";
import { byId, download, h } from "../look/dom.js";
import { amount, count, powers } from "../look/format.js";
import { METHODS } from "../methods.js";
import { comparisonPlot, type Curve } from "../plots/comparison.js";
import { onThemeChange } from "../plots/theme.js";
import { FIELDS, type State, type Store } from "../state.js";
import type { Comparison, FromCompare, Run, ToCompare } from "../workers/compare.js";
import { bindControls } from "./controls.js";
import type { DataChoice } from "./data.js";

/** One method at one ε, all its runs done. */
interface Row {
  readonly method: string;
  readonly epsilon: number;
  readonly mse: number;
  /** Half the width of the 95 % interval of `mse`, from the spread of the runs. */
  readonly error: number;
  readonly mae: number;
  readonly theta: number;
  readonly seconds: number;
}

const MOST_WORKERS = 4;

export class CompareView {
  readonly #store: Store;
  readonly #choice: DataChoice;
  #workers: Worker[] = [];
  #queue: Run[] = [];
  #of = 0;
  #repeat = 0;
  #results = new Map<string, TrialResult[]>();
  #rows: Row[] = [];

  constructor(store: Store, choice: DataChoice) {
    this.#store = store;
    this.#choice = choice;
    this.#listMethods();
    bindControls(byId("compare-controls"), store);
    byId("compare-run").addEventListener("click", () => this.#run());
    byId<HTMLButtonElement>("compare-run").disabled = false;
    byId("compare-stop").addEventListener("click", () =>
      this.#stop(`Stopped after ${count(this.#done)} of ${count(this.#of)} runs.`),
    );
    byId("compare-csv").addEventListener("click", () => download("comparison.csv", this.#csv(), "text/csv"));
    byId("compare-svg").addEventListener("click", () =>
      download("comparison.svg", new XMLSerializer().serializeToString(this.#plot()), "image/svg+xml"),
    );
    onThemeChange(() => this.#show());
    addEventListener("resize", () => this.#show());
    store.subscribe((state) => this.#describe(state));
    choice.subscribe(() => this.#describe(store.state));
    this.#describe(store.state);
  }

  get #done(): number {
    return [...this.#results.values()].reduce((sum, runs) => sum + runs.length, 0);
  }

  #listMethods(): void {
    const chosen = () => new Set(this.#store.state.methods.split(","));
    const boxes = Object.entries(METHODS).map(([key, { name }]) => {
      const box = h("input", { type: "checkbox", value: key });
      box.checked = chosen().has(key);
      box.addEventListener("change", () => {
        const now = Object.keys(METHODS).filter((other) =>
          other === key ? box.checked : chosen().has(other),
        );
        if (now.length > 0) this.#store.set({ methods: now.join(",") });
        else box.checked = true; // something has to be compared
      });
      return h("label", {}, box, name);
    });
    byId("method-list").append(...boxes);
  }

  #describe({ holdout, maxRange }: State): void {
    const { total } = this.#choice.data;
    const range = Math.min(maxRange, total - holdout);
    byId("compare-data").textContent =
      `${count(holdout)} values held out, then random ranges among ${count(Math.max(0, range))}; both are set under “Live stream”.`;
  }

  #run(): void {
    this.#stop("");
    byId("compare-error").textContent = "";
    const { methods, epsilons, repeat, queries, holdout, maxRange, max, noise, seed } = this.#store.state;
    const { source, total } = this.#choice.data;
    const budgets = [...new Set(epsilons.split(",").map((text) => FIELDS.epsilon.read(text)))];
    if (budgets.includes(undefined))
      return this.#fail("Privacy budgets: expected numbers from 0.001 to 10 with commas between them.");
    const range = Math.min(maxRange, total - holdout);
    if (range < 64)
      return this.#fail(`Hold-out: ${count(holdout)} of ${count(total)} values leave too few to compare on.`);
    this.#repeat = repeat;
    this.#results = new Map();
    this.#rows = [];
    const known = methods.split(",").filter((key) => key in METHODS);
    // ε by ε, so that all curves grow together and a stopped comparison still shows every method.
    for (const epsilon of budgets as number[])
      for (const method of known)
        for (let run = 0; run < repeat; run++) this.#queue.push({ method, epsilon, run });
    this.#of = this.#queue.length;
    const comparison: Comparison = {
      source,
      max,
      holdout,
      maxRange: range,
      queries,
      ...(noise === "seed" ? { seed } : {}),
    };
    const workers = Math.min(MOST_WORKERS, Math.max(1, navigator.hardwareConcurrency - 1), this.#of);
    for (let i = 0; i < workers; i++) this.#startWorker(comparison);
    byId<HTMLButtonElement>("compare-stop").disabled = false;
    this.#progress();
  }

  #startWorker(comparison: Comparison): void {
    const worker = new Worker(new URL("../workers/compare.ts", import.meta.url), { type: "module" });
    const tell = (message: ToCompare) => worker.postMessage(message);
    const next = () => {
      const run = this.#queue.shift();
      if (run !== undefined) tell({ run });
    };
    worker.addEventListener("error", ({ message }) => this.#fail(message));
    worker.addEventListener("message", ({ data }: MessageEvent<FromCompare>) => {
      if ("failed" in data) return this.#fail(data.failed);
      this.#take(data.run, data.result);
      next();
    });
    this.#workers.push(worker);
    tell({ begin: comparison });
    next();
  }

  #take({ method, epsilon }: Run, result: TrialResult): void {
    const key = `${method} ${epsilon}`;
    const runs = [...(this.#results.get(key) ?? []), result];
    this.#results.set(key, runs);
    if (runs.length === this.#repeat) {
      const { mean, sd } = meanAndSd(runs.map(({ mse }) => mse));
      this.#rows.push({
        method,
        epsilon,
        mse: mean,
        error: (1.96 * sd) / Math.sqrt(runs.length),
        mae: meanAndSd(runs.map(({ mae }) => mae)).mean,
        theta: median(runs.map(({ theta }) => theta)),
        seconds: median(runs.map(({ seconds }) => seconds)),
      });
      this.#show();
    }
    if (this.#done === this.#of) this.#stop(`${count(this.#of)} runs done.`);
    else this.#progress();
  }

  #progress(): void {
    byId<HTMLProgressElement>("compare-progress").value = this.#done / this.#of;
    byId("compare-status").textContent = `${count(this.#done)} of ${count(this.#of)} runs`;
  }

  #stop(note: string): void {
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
    this.#queue = [];
    byId<HTMLProgressElement>("compare-progress").value = this.#of > 0 && this.#done === this.#of ? 1 : 0;
    byId("compare-status").textContent = note;
    byId<HTMLButtonElement>("compare-stop").disabled = true;
  }

  #fail(message: string): void {
    this.#stop("");
    byId("compare-error").textContent = message;
  }

  #sorted(): Row[] {
    const order = Object.keys(METHODS);
    return this.#rows.toSorted(
      (a, b) => order.indexOf(a.method) - order.indexOf(b.method) || a.epsilon - b.epsilon,
    );
  }

  #plot(width?: number): SVGElement {
    const rows = this.#sorted();
    const curves: Curve[] = [...new Set(rows.map(({ method }) => method))].map((method) => ({
      name: METHODS[method]!.name,
      look: Object.keys(METHODS).indexOf(method),
      points: rows
        .filter((row) => row.method === method)
        .map(({ epsilon, mse, error }) => ({ epsilon, mean: mse, error })),
    }));
    return comparisonPlot(curves, "mean squared error of sums", width);
  }

  #show(): void {
    if (this.#rows.length === 0) return;
    const place = byId("comparison");
    place.replaceChildren(this.#plot(Math.max(320, Math.min(1000, place.clientWidth))));
    byId("results").hidden = false;
    const { unit, sumUnit } = this.#choice.data.meaning;
    const head = [
      "Method",
      "ε",
      `MSE, ${sumUnit}²`,
      "± 95 %",
      `Mean error, ${sumUnit}`,
      `θ, ${unit}`,
      "Time, s",
    ];
    const body = this.#sorted().map(({ method, epsilon, mse, error, mae, theta, seconds }) => {
      const cells = [powers(mse), powers(error), amount(mae), amount(theta), seconds.toFixed(3)];
      return h(
        "tr",
        {},
        ...[METHODS[method]!.name, String(epsilon), ...cells].map((cell) => h("td", {}, cell)),
      );
    });
    byId("results-table").replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...body),
      ),
    );
    for (const id of ["compare-csv", "compare-svg"]) byId<HTMLButtonElement>(id).disabled = false;
  }

  #csv(): string {
    const rows = this.#sorted().map(({ method, epsilon, mse, error, mae, theta, seconds }) =>
      [method, epsilon, this.#repeat, mse, error, mae, theta, seconds].join(","),
    );
    return ["method,epsilon,runs,mse,mse_error95,mae,theta_median,seconds_median", ...rows].join("\n") + "\n";
  }
}
