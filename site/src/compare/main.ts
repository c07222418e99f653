/** The comparison's page: it runs by itself, and what it shows belongs to the data and settings it names. */
import { type Curve, curvesChart, lookOf, marker } from "../charts/curves.js";
import { onColours } from "../charts/theme.js";
import { type Data, exampleData, ownData } from "../data/chosen.js";
import { fitting, roundedUp } from "../data/fitting.js";
import { storedStream } from "../data/stored.js";
import { bindControls } from "../look/controls.js";
import { byId, download, h, svg, svgFile } from "../look/dom.js";
import { amount, count, powers } from "../look/format.js";
import { beginPage } from "../look/page.js";
import { bindAddress, Store } from "../look/state.js";
import { METHODS } from "./methods.js";
import { type Row, Runner } from "./runner.js";
import { budgets, FIELDS, type State } from "./state.js";
import { ResultTable } from "./table.js";

/** Milliseconds that settings must rest before they run. */
const REST = 500;

beginPage();
const store = new Store<State>(FIELDS, location.search);
const stored = await storedStream();
const data: Data = stored === undefined ? exampleData(store.state.seed) : ownData(stored);
const { unit, sumUnit } = data.meaning;
const max = stored === undefined ? 1000 : roundedUp(stored.values.reduce((a, b) => Math.max(a, b), 0));
const { holdout } = stored === undefined ? { holdout: 2 ** 16 } : fitting(data.total);
const maxRange = Math.min(2 ** 20, data.total - holdout);
byId("compare-data").textContent =
  `${data.name}. ${count(holdout)} values held out, then random ranges among ${count(maxRange)}. Relative: error of a range's mean, in % of the mean value.`;

let rows: Row[] = [];
const table = new ResultTable(byId("results"), join);
const runner = new Runner({
  row(row) {
    rows.push(row);
    paint();
  },
  progress(done, of) {
    byId<HTMLProgressElement>("compare-progress").value = done / of;
    byId("compare-status").textContent =
      done === of ? `${count(of)} runs done.` : `${count(done)} of ${count(of)} runs`;
    byId<HTMLButtonElement>("compare-stop").disabled = done === of;
  },
  failed: fail,
});

function run(): void {
  clear();
  const epsilons = budgets(store.state.epsilons);
  if (epsilons === undefined)
    return fail("Privacy budgets: expected numbers from 0.001 to 10 with commas or spaces between them.");
  if (maxRange < 64) return fail(`${data.name} has too few values to compare on.`);
  const { methods, repeat, queries, seed } = store.state;
  const known = methods.split(",").filter((key) => key in METHODS);
  runner.start({ source: data.source, max, holdout, maxRange, queries, seed }, known, epsilons, repeat);
}

/** Results never outlive what they were made with. */
function clear(): void {
  runner.stop();
  rows = [];
  byId("compare-error").textContent = "";
  byId("compare-status").textContent = "";
  byId<HTMLProgressElement>("compare-progress").value = 0;
  paint();
}

function fail(message: string): void {
  byId("compare-error").textContent = message;
  byId<HTMLButtonElement>("compare-stop").disabled = true;
}

function chart(width: number): SVGElement {
  const relative = store.state.measure === "relative";
  const order = Object.keys(METHODS);
  const curves: Curve[] = order
    .filter((method) => rows.some((row) => row.method === method))
    .map((method) => ({
      name: METHODS[method]!.name,
      look: order.indexOf(method),
      points: rows
        .filter((row) => row.method === method)
        .sort((a, b) => a.epsilon - b.epsilon)
        .map((row) => {
          const [y, error] = relative
            ? [100 * row.relative, 100 * row.relativeError]
            : [row.mse, row.mseError];
          return { x: row.epsilon, y, low: y - error, high: y + error };
        }),
    }));
  return curvesChart({
    curves,
    width,
    height: width < 600 ? 340 : 440,
    xLabel: "ε: smaller is more private",
    yLabel: relative ? "relative error, %" : `mean squared error, ${sumUnit}²`,
    yText: relative
      ? (y) => (y < 1e4 ? amount(y) : powers(y).replace(/^1\.00\s×\s/, ""))
      : (y) => powers(y).replace(/^1\.00\s×\s/, ""),
  });
}

function paint(): void {
  const place = byId("comparison");
  table.show(rows, unit, sumUnit);
  for (const id of ["compare-csv", "compare-svg"]) byId<HTMLButtonElement>(id).disabled = rows.length === 0;
  if (rows.length === 0) return place.replaceChildren();
  place.replaceChildren(chart(Math.max(320, Math.min(1060, place.clientWidth))));
  for (const curve of place.querySelectorAll<SVGGElement>("[data-curve]")) {
    const method = Object.keys(METHODS).find((key) => METHODS[key]!.name === curve.dataset["curve"]);
    curve.addEventListener("pointerenter", () => join(method));
    curve.addEventListener("pointerleave", () => join(undefined));
  }
  byId("legend").replaceChildren(
    ...Object.keys(METHODS)
      .filter((method) => rows.some((row) => row.method === method))
      .map((method) => {
        const look = Object.keys(METHODS).indexOf(method);
        const line = {
          d: "M1 7H31",
          stroke: lookOf(look).colour,
          "stroke-width": 2,
          "stroke-dasharray": lookOf(look).dash,
        };
        return h(
          "li",
          {},
          svg(
            "svg",
            { width: 32, height: 14, viewBox: "0 0 32 14", "aria-hidden": "true" },
            svg("path", line),
            marker(look, 16, 7),
          ),
          METHODS[method]!.name,
        );
      }),
  );
}

/** A row and its curve stand out together. */
function join(method: string | undefined): void {
  for (const place of [byId("comparison"), byId("results")])
    place.classList.toggle("joined", method !== undefined);
  for (const line of document.querySelectorAll<HTMLElement>("#results tbody tr"))
    line.classList.toggle("joined", line.dataset["method"] === method);
  for (const curve of document.querySelectorAll<SVGGElement>("#comparison [data-curve]"))
    curve.classList.toggle(
      "joined",
      method !== undefined && curve.dataset["curve"] === METHODS[method]!.name,
    );
}

function listMethods(): void {
  const chosen = () => new Set(store.state.methods.split(","));
  byId("method-list").append(
    ...Object.entries(METHODS).map(([key, { name }]) => {
      const box = h("input", { type: "checkbox", value: key });
      box.checked = chosen().has(key);
      box.addEventListener("change", () => {
        const now = Object.keys(METHODS).filter((other) =>
          other === key ? box.checked : chosen().has(other),
        );
        if (now.length > 0) store.set({ methods: now.join(",") });
        else box.checked = true; // something has to be compared
      });
      return h("label", {}, box, name);
    }),
  );
}

const csv = () => {
  const lines = table
    .sorted()
    .map(({ method, epsilon, runs, relative, mse, mae, theta, seconds }) =>
      [method, epsilon, runs, relative, mse, mae, theta, seconds].join(","),
    );
  return ["method,epsilon,runs,relative,mse,mae,theta_median,seconds_median", ...lines].join("\n") + "\n";
};

bindControls(document, store);
bindAddress(store);
listMethods();
let timer: ReturnType<typeof setTimeout> | undefined;
store.subscribe((state, before) => {
  if (state.measure !== before.measure) return paint();
  clear();
  clearTimeout(timer);
  timer = setTimeout(run, REST);
});
onColours(paint);
byId("compare-run").addEventListener("click", run);
byId("compare-stop").addEventListener("click", () => {
  runner.stop();
  byId<HTMLButtonElement>("compare-stop").disabled = true;
  byId("compare-status").textContent = `Stopped. ${byId("compare-status").textContent}.`;
});
byId("compare-csv").addEventListener("click", () =>
  download("comparison.csv", new Blob([csv()], { type: "text/csv" })),
);
byId("compare-svg").addEventListener("click", () => download("comparison.svg", svgFile(chart(1000))));
run();
