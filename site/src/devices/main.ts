/** The page of the devices: reports fly, a histogram forms, percentiles get their intervals. */
import { DistributionChart } from "../charts/distribution.js";
import { roundedUp } from "../data/fitting.js";
import { storedStream } from "../data/stored.js";
import { bindControls } from "../look/controls.js";
import { Coverage, type Run } from "../look/coverage.js";
import { byId, h, svg } from "../look/dom.js";
import { amount, count, withUnit } from "../look/format.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import { beginPage } from "../look/page.js";
import { bindPeek } from "../look/peek.js";
import { bindAddress, choiceField, numberField, Store } from "../look/state.js";
import type { FromDevices, Snapshot, ToDevices } from "../workers/devices.js";
import type { Repeated } from "../workers/deviceDay.js";
import { Crowd } from "./crowd.js";

/** Milliseconds in which the picture forms, and between two pictures of a replay. */
const PACE = 10_000;
const STEP = 400;
/** Milliseconds that a page may take to load, for those who bring no values of their own. */
const LOAD_MAX = 10_000;

beginPage();
const store = new Store(
  { epsilon: numberField(2, 0.25, 8, false), devices: choiceField("40000", "4000", "200000") },
  location.search,
);
bindControls(document, store);
bindAddress(store);
const stored = await storedStream();
const [values, max, unit, what] =
  stored === undefined
    ? [undefined, LOAD_MAX, "ms", "how long it took to load a page today (made up)"]
    : [
        stored.values,
        roundedUp(stored.values.reduce((a, b) => Math.max(a, b), 0)),
        stored.meaning.unit,
        `one value of ${stored.name}`,
      ];
byId("devices-data").textContent = `Each device knows ${what}. Largest possible: ${withUnit(max, unit)}.`;

const chart = new DistributionChart(byId("histogram"), unit);
const scrub = byId<HTMLInputElement>("scrub");
let job: Job<ToDevices> | undefined;
let snapshots: Snapshot[] = [];
let members: Extract<FromDevices, { type: "crowd" }> | undefined;
let replaying: ReturnType<typeof setInterval> | undefined;
let fogged = true;

const crowd = new Crowd(byId<HTMLCanvasElement>("crowd"), (device) => {
  const [value, sent] = [members?.values[device], members?.sent[device]];
  byId("device-say").textContent =
    value === undefined || sent === undefined
      ? "It has not sent anything yet."
      : `Device ${device + 1}: true ${amount(value)} → sent ${amount(Math.round(sent))}. Any other value is sent as this number at most ${amount(Number(Math.exp(store.state.epsilon).toPrecision(3)))} times more or less often: that is all the server learns.`;
});

function run(): void {
  job?.stop();
  for (const coverage of coverages) coverage.reset();
  clearInterval(replaying);
  [snapshots, members] = [[], undefined];
  chart.clear();
  scrub.disabled = true;
  byId<HTMLButtonElement>("replay").disabled = true;
  for (const id of ["devices-error", "scrub-note", "mean-say"]) byId(id).textContent = "";
  byId("percentiles").replaceChildren();
  byId("device-say").textContent = "Click a device to see what it sends.";
  const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : PACE;
  crowd.start(pace);
  job = startJob<ToDevices, FromDevices>(
    () => new Worker(new URL("../workers/devices.ts", import.meta.url), { type: "module" }),
    hear,
    () => byId("crowd").before(failureNote(run)),
  );
  const { epsilon, devices } = store.state;
  job.tell({ values, max, epsilon, devices: Number(devices), task: { pace } });
}

/** Other days with fresh noise, one at a time, in a Worker of their own, so that the picture goes on forming. */
let others: Job<ToDevices> | undefined;
let heard: { readonly resolve: (runs: Run[]) => void; readonly reject: () => void } | undefined;
let last: Promise<unknown> = Promise.resolve();
function again(which: Repeated): Promise<Run[]> {
  const next = last.catch(() => undefined).then(() => askOthers(which));
  last = next;
  return next;
}
function askOthers(which: Repeated): Promise<Run[]> {
  others ??= startJob<ToDevices, FromDevices>(
    () => new Worker(new URL("../workers/devices.ts", import.meta.url), { type: "module" }),
    (message) => (message.type === "again" ? heard?.resolve([message.run]) : heard?.reject()),
    () => {
      others = undefined;
      heard?.reject();
    },
  );
  const { epsilon, devices } = store.state;
  others.tell({ values, max, epsilon, devices: Number(devices), task: { again: which } });
  return new Promise((resolve, reject) => (heard = { resolve, reject }));
}
const coverages = (
  [
    ["histogram-runs", "histogram", "The band around the whole histogram, with fresh noise on every device"],
    ["mean-runs", "mean", "The mean, with fresh noise on every device"],
    ["median-runs", "median", "The median, with fresh noise on every device"],
  ] as const
).map(([place, which, words]) => new Coverage(byId(place), words, () => again(which)));

function hear(message: FromDevices): void {
  switch (message.type) {
    case "crowd":
      members = message;
      return;
    case "snapshot":
      snapshots.push(message);
      scrub.max = String(snapshots.length - 1);
      return show(snapshots.length - 1);
    case "done":
      scrub.disabled = false;
      byId<HTMLButtonElement>("replay").disabled = false;
      return;
    case "failed":
      byId("devices-error").textContent = message.message;
  }
}

function show(at: number): void {
  const snapshot = snapshots[at];
  if (snapshot === undefined) return;
  scrub.value = String(at);
  byId("scrub-note").textContent = `${count(snapshot.reports)} reports`;
  chart.show(snapshot, fogged);
  const { mean, threshold } = snapshot;
  const interval = `between ${amount(mean.low)} and ${withUnit(mean.high, unit)}`;
  const isWide = mean.value === null || (mean.high - mean.low) / 2 > Math.abs(mean.value);
  byId("mean-say").textContent =
    `${isWide ? `Mean ${interval}, with 95 % probability` : `Mean ${withUnit(mean.value, unit)}, with 95 % probability ${interval}`}. Values above ${withUnit(threshold, unit)} are clamped to it: the server chose this bound from the reports of yesterday.`;
  table(snapshot);
}

function table(snapshot: Snapshot): void {
  const end = Math.max(...snapshot.percentiles.map(({ high }) => high));
  const column = (text: string) => h("th", { scope: "col" }, text);
  const head = [
    ...["Percentile", "Estimate", "95 % interval"].map(column),
    h("th", { scope: "col", class: "wide-cell" }, `0 to ${amount(end)}`),
    column("Truth"),
  ];
  byId("percentiles").replaceChildren(
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head)),
      h(
        "tbody",
        {},
        ...snapshot.percentiles.map(({ p, value, low, high, truth }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, `${Math.round(100 * p)} %`),
            h("td", {}, value === null ? "–" : withUnit(value, unit)),
            h("td", {}, `${amount(low)} to ${amount(high)}`),
            h(
              "td",
              { class: "wide-cell" },
              line(low / end, value === null ? undefined : value / end, high / end),
            ),
            h("td", {}, h("span", { class: "secret" }, amount(truth))),
          ),
        ),
      ),
    ),
  );
}

/** An interval as a picture: shares of the width. The numbers stand beside it. */
function line(low: number, value: number | undefined, high: number): SVGElement {
  const at = (share: number) => `${1 + 98 * share}%`;
  return svg(
    "svg",
    { class: "interval-line", "aria-hidden": "true" },
    svg("line", { x1: at(0), x2: at(1), y1: 11, y2: 11, stroke: "var(--line)" }),
    svg("line", {
      x1: at(low),
      x2: at(high),
      y1: 11,
      y2: 11,
      stroke: "var(--private-edge)",
      "stroke-width": 8,
      "stroke-linecap": "round",
    }),
    ...(value === undefined ? [] : [svg("circle", { cx: at(value), cy: 11, r: 5, fill: "var(--private)" })]),
  );
}

scrub.addEventListener("input", () => show(Number(scrub.value)));
byId("replay").addEventListener("click", () => {
  clearInterval(replaying);
  crowd.start(STEP * snapshots.length);
  let at = 0;
  replaying = setInterval(() => {
    show(at++);
    if (at === snapshots.length) clearInterval(replaying);
  }, STEP);
});
byId("run").addEventListener("click", run);
store.subscribe(run);
bindPeek((now) => {
  fogged = now;
  show(Number(scrub.value));
});
run();
