/** The page "Paper": frozen results at first, then those of the visitor's own runs. What it shows belongs to the data and settings it names. */
import { type PrivacyUnit, UNIT_TITLES } from "brume-research";
import { type Curve, curvesChart, lookOf, marker } from "../charts/curves.js";
import { colours, FONT_FAMILY, onColours } from "../charts/theme.js";
import { type Data, exampleData, ownData } from "../data/chosen.js";
import { fitting, roundedUp } from "../data/fitting.js";
import { storedStream } from "../data/stored.js";
import { bindControls } from "../look/controls.js";
import { byId, download, h, svg, svgFile } from "../look/dom.js";
import { amount, count, powers } from "../look/format.js";
import { beginPage } from "../look/page.js";
import { bindAddress, Store, writeState } from "../look/state.js";
import { METHODS } from "./methods.js";
import { type Row, Runner } from "./runner.js";
import { budgets, FIELDS, type State } from "./state.js";
import { ResultTable } from "./table.js";

/** Milliseconds that settings must rest before they run. */
const REST = 500;
const ORDER = Object.keys(METHODS);

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

let rows: readonly Row[] = [];
const table = new ResultTable(byId("results"), join);
const runner = new Runner({
  row(row) {
    rows = [...rows, row];
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
  runner.start({ max, holdout, maxRange, queries, seed }, data.source, known, epsilons, repeat);
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

/** Results of many runs, made by a script; times are those of a machine, and are left out. */
async function showFrozen(): Promise<void> {
  const answer = await fetch(new URL("./frozen.json", import.meta.url));
  const frozen = (await answer.json()) as { runs: number; rows: Omit<Row, "seconds">[] };
  rows = frozen.rows.map((row) => ({ ...row, seconds: NaN }));
  byId("compare-status").replaceChildren(
    `Frozen: ${count(frozen.runs)} runs of each, made by `,
    h("code", {}, "npm run web -- paper"),
    ".",
  );
  paint();
}

function fail(message: string): void {
  byId("compare-error").textContent = message;
  byId<HTMLButtonElement>("compare-stop").disabled = true;
}

/** Units that have results, in their order. */
const units = () =>
  (Object.keys(UNIT_TITLES) as PrivacyUnit[]).filter((unit) =>
    rows.some((row) => METHODS[row.method]!.unit === unit),
  );

const methodsOf = (unit: PrivacyUnit) =>
  ORDER.filter((key) => METHODS[key]!.unit === unit && rows.some((row) => row.method === key));

/** The curves of one unit: those of another one promise something else. */
function chart(unit: PrivacyUnit, width: number): SVGElement {
  const relative = store.state.measure === "relative";
  const curves: Curve[] = methodsOf(unit).map((method) => ({
    name: METHODS[method]!.name,
    look: ORDER.indexOf(method),
    points: rows
      .filter((row) => row.method === method)
      .sort((a, b) => a.epsilon - b.epsilon)
      .map((row) => {
        const [y, error] = relative ? [100 * row.relative, 100 * row.relativeError] : [row.mse, row.mseError];
        return { x: row.epsilon, y, low: y - error, high: y + error };
      }),
  }));
  return curvesChart({
    curves,
    width,
    height: width < 600 || unit !== "event" ? 320 : 440,
    xLabel: "ε: smaller is more private",
    xTicks: budgets(store.state.epsilons) ?? [],
    yLabel: relative ? "relative error, %" : `mean squared error, ${sumUnit}²`,
    yText: relative
      ? (y) => (y < 1e4 ? amount(y) : powers(y).replace(/^1\.00\s×\s/, ""))
      : (y) => powers(y).replace(/^1\.00\s×\s/, ""),
  });
}

/** The charts of all units as one drawing. */
function drawing(width: number): SVGElement {
  let top = 0;
  const parts = units().flatMap((unit) => {
    const one = chart(unit, width);
    const tall = Number(one.getAttribute("viewBox")!.split(" ")[3]);
    const title = svg(
      "text",
      { x: 4, y: top + 20, "font-size": 16, "font-weight": 650, fill: colours().ink },
      UNIT_TITLES[unit],
    );
    for (const [name, value] of Object.entries({ y: top + 30, width, height: tall }))
      one.setAttribute(name, String(value));
    top += tall + 50;
    return [title, one];
  });
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${top}`, "font-family": FONT_FAMILY },
    svg("rect", { width, height: top, fill: colours().card }),
    ...parts,
  );
}

function legendOf(unit: PrivacyUnit): HTMLElement {
  const items = methodsOf(unit).map((method) => {
    const look = ORDER.indexOf(method);
    const { colour, dash } = lookOf(look);
    const line = { d: "M1 7H31", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash };
    const box = { width: 32, height: 14, viewBox: "0 0 32 14", "aria-hidden": "true" };
    return h("li", {}, svg("svg", box, svg("path", line), marker(look, 16, 7)), METHODS[method]!.name);
  });
  return h("ul", { class: "legend" }, ...items);
}

function paint(): void {
  const place = byId("comparison");
  table.show(rows, unit, sumUnit);
  for (const id of ["compare-csv", "compare-svg"]) byId<HTMLButtonElement>(id).disabled = rows.length === 0;
  const width = Math.max(300, Math.min(1060, place.clientWidth));
  place.replaceChildren(
    ...units().map((unit) =>
      h(
        "figure",
        { "data-unit": unit },
        h("figcaption", {}, UNIT_TITLES[unit]),
        chart(unit, width),
        legendOf(unit),
      ),
    ),
  );
  for (const curve of place.querySelectorAll<SVGGElement>("[data-curve]")) {
    const method = ORDER.find((key) => METHODS[key]!.name === curve.dataset["curve"]);
    curve.addEventListener("pointerenter", () => join(method));
    curve.addEventListener("pointerleave", () => join(undefined));
  }
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
  const box = (key: string) => {
    const input = h("input", { type: "checkbox", value: key });
    input.checked = chosen().has(key);
    input.addEventListener("change", () => {
      const now = ORDER.filter((other) => (other === key ? input.checked : chosen().has(other)));
      if (now.length > 0) store.set({ methods: now.join(",") });
      else input.checked = true; // something has to be compared
    });
    return h("label", {}, input, METHODS[key]!.name);
  };
  byId("method-list").append(
    ...Object.entries(UNIT_TITLES).map(([unit, title]) =>
      h(
        "fieldset",
        { class: "checks" },
        h("legend", {}, title),
        ...ORDER.filter((key) => METHODS[key]!.unit === unit).map(box),
      ),
    ),
  );
}

const csv = () => {
  const lines = table
    .sorted()
    .map(({ method, epsilon, runs, relative, mse, mae, theta, seconds }) =>
      [method, epsilon, runs, relative, mse, mae, theta, seconds, METHODS[method]!.unit].join(","),
    );
  return (
    ["method,epsilon,runs,relative,mse,mae,theta_median,seconds_median,unit", ...lines].join("\n") + "\n"
  );
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
byId("compare-svg").addEventListener("click", () => download("comparison.svg", svgFile(drawing(1000))));
// A link with settings, or a file of one's own, is a question that nothing frozen answers.
const isAsked = writeState(FIELDS, { ...store.state, measure: FIELDS.measure.initial }) !== "";
if (isAsked || stored !== undefined) run();
else await showFrozen().catch(run);
