/** The dashboard: live numbers with margins of error. It shows what the service published, and asks for nothing else. */
import { asPng, picture } from "../../../../site/src/charts/picture.js";
import { byId, download, h } from "../../../../site/src/look/dom.js";
import { bindAddress } from "../../../../site/src/look/state.js";
import { bindTheme } from "../../../../site/src/look/theme.js";
import { showAllMetrics } from "./allMetrics.js";
import * as api from "./api.js";
import { type Daily, showLocal } from "./local.js";
import { chartCsv, isPublished, newestEnd, questionOf, showNumbers } from "./numbers.js";
import { showOperation } from "./operation.js";
import { onPlot } from "./plot.js";
import { bindProtection, showProtection } from "./protection.js";
import { type State, store } from "./state.js";
import { fits, nextWords, percentile, QUANTILES, RANGES, ZoneTimes } from "./words.js";

/** Milliseconds between two rounds of questions. */
const PACE = 1000;

let metrics: readonly api.MetricInfo[] = [];
let times = new ZoneTimes("UTC");
let asking = false;
let again = false;

/** The metric that is chosen: the first one if the address names none that is there. */
const metric = (): api.MetricInfo => metrics.find(({ name }) => name === store.state.metric) ?? metrics[0]!;

async function refresh(): Promise<void> {
  if (metrics.length === 0) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  const chosen = store.state;
  try {
    await show(chosen);
    state(true);
    if (chosen === store.state) busy(false);
  } catch (error) {
    if (error instanceof api.TokenNeeded) return askToken();
    state(false, error instanceof Error ? error.message : undefined);
    again = true; // what is shown may be of another metric, or half of it old
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    setTimeout(() => void refresh(), chosen === store.state ? PACE : 0);
  }
}

/** Greys out numbers of an earlier choice until those of the present one are there. */
const busy = (is: boolean): void => byId("numbers").setAttribute("aria-busy", String(is));

async function show(chosen: State): Promise<void> {
  if (chosen.view === "operation") return showOperation(times);
  if (chosen.view === "privacy") return showProtection(times.zone);
  const current = metric();
  if (current.type === "local") {
    const daily: Daily = chosen.daily === "mean" ? "mean" : Number(chosen.daily);
    await showLocal(current, chosen.range, daily, times);
  } else await showNumbers(current, chosen, times);
  await showAllMetrics(metrics, chosen);
}

function state(live: boolean, message?: string): void {
  const element = byId("state");
  element.classList.toggle("live", live);
  element.lastElementChild!.textContent = live ? "Live" : (message ?? "Not connected; trying again");
}

/** A row of choices, which shows and sets a field of the state. */
function segmented<K extends keyof State>(
  field: K,
  id: string,
  choices: readonly (readonly [text: string, value: State[K]])[],
): void {
  const inputs = choices.map(([, value]) => {
    const input = h("input", { type: "radio", name: id });
    input.addEventListener("change", () => store.set({ [field]: value }));
    return input;
  });
  byId(id).append(...inputs.map((input, i) => h("label", {}, input, h("span", {}, choices[i]![0]))));
  const check = (): void =>
    inputs.forEach((input, i) => (input.checked = choices[i]![1] === store.state[field]));
  store.subscribe(check);
  check();
}

/** Shows the controls that the metric has, and the chosen view. */
function showControls({ view, range, until }: State): void {
  for (const id of ["numbers", "operation", "privacy"]) byId(id).hidden = id !== view;
  const current = metric();
  byId<HTMLSelectElement>("metric").value = current.name;
  byId("key-field").hidden = current.keys.length === 0;
  byId("key").replaceChildren(...current.keys.map((key) => h("option", { value: key }, key)));
  byId<HTMLSelectElement>("key").value = questionOf(current, store.state.key).key ?? "";
  byId("keys-card").hidden = current.keys.length === 0;
  byId("quantiles").hidden = current.type !== "histogram";
  byId("percentiles-card").hidden = current.type !== "histogram" && current.type !== "local";
  byId("daily").hidden = current.type !== "local";
  byId("until-field").hidden = current.type === "local"; // its days are those up to now
  byId<HTMLInputElement>("until").value = until === 0 ? "" : times.dateOf(until - 1);
  const inputs = [...byId("ranges").querySelectorAll("input")];
  RANGES.forEach(([, length], i) => {
    inputs[i]!.disabled = !fits(length, current);
    inputs[i]!.parentElement!.hidden = !fits(length, current);
  });
  // Ranges that numbers of the metric fill; the one that is chosen stays if it can.
  if (!fits(range, current)) store.set({ range: RANGES.find(([, length]) => fits(length, current))![1] });
}

/** A service that has published nothing says so, and when that changes. */
function showEmpty(about: api.About): void {
  const first = Math.min(...about.metrics.flatMap(({ next }) => next ?? []));
  byId("empty").hidden = false;
  byId("empty").textContent = Number.isFinite(first)
    ? `This service is empty so far. ${nextWords(first, about.now, times)}`
    : "This service is empty so far.";
}

async function isEmpty({ metrics, now }: api.About): Promise<boolean> {
  for (const metric of metrics) {
    const { name, keys, every } = metric;
    if (every === null) {
      const { reports } = await api.askSince(name, 0, []);
      if (reports > 0) return false;
      continue;
    }
    const question = { metric: name, key: keys[0] };
    if (isPublished(await api.askLast(question))) return false;
    if ((await newestEnd(question, metric, now)) !== undefined) return false;
  }
  return true;
}

function askToken(): void {
  byId("page").hidden = true;
  byId("token").hidden = false;
  state(false, "A token is needed");
}

async function start(): Promise<void> {
  let about: api.About;
  try {
    about = await api.metrics();
  } catch (error) {
    if (error instanceof api.TokenNeeded) return askToken();
    state(false);
    setTimeout(() => void start(), 2000);
    return;
  }
  ({ metrics } = about);
  times = new ZoneTimes(about.zone);
  byId("token").hidden = true;
  byId("page").hidden = false;
  if (await isEmpty(about)) showEmpty(about);
  byId("metric").replaceChildren(...metrics.map(({ name }) => h("option", { value: name }, name)));
  showControls(store.state);
  void refresh();
  const stop = new AbortController();
  addEventListener("pagehide", () => stop.abort());
  const onNews = (): void => {
    byId("empty").hidden = true;
    void refresh();
  };
  void api.follow(onNews, state, stop.signal);
}

bindTheme();
bindAddress(store);
segmented("view", "views", [
  ["Numbers", "numbers"],
  ["Operation", "operation"],
  ["Privacy", "privacy"],
]);
segmented("range", "ranges", RANGES);
segmented(
  "percentile",
  "quantiles",
  QUANTILES.map((p) => [percentile(p), p]),
);
segmented("daily", "daily", [["mean", "mean"], ...QUANTILES.map((p) => [percentile(p), String(p)] as const)]);
store.subscribe((chosen) => {
  if (metrics.length > 0) showControls(chosen);
  busy(true);
  void refresh();
});
byId("metric").addEventListener("change", () =>
  store.set({ metric: byId<HTMLSelectElement>("metric").value, key: "", from: 0, to: 0 }),
);
byId("key").addEventListener("change", () => store.set({ key: byId<HTMLSelectElement>("key").value }));
byId("until").addEventListener("change", () => {
  const end = times.endOf(byId<HTMLInputElement>("until").value);
  void api.metrics().then(({ now }) => store.set({ until: end > 0 && end < now ? end : 0, from: 0, to: 0 }));
});
byId("save-csv").addEventListener("click", () => {
  void chartCsv().then((table) => table && download(`${metric().name}.csv`, table));
});
byId("save-png").addEventListener("click", () => {
  const drawn = onPlot();
  if (drawn === undefined) return;
  const title = byId("about").textContent;
  void asPng(picture({ title, holdout: drawn.from, ...drawn })).then((file) =>
    download(`${metric().name}.png`, file),
  );
});
bindProtection();
byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setToken(byId<HTMLInputElement>("token-text").value.trim());
  void start();
});
void start();
