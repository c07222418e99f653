/** The first page: the picture of the helpline, then the story. The step in the middle of the window decides what the stage shows. */
import { callsOf } from "../look/calls.js";
import { bindControls } from "../look/controls.js";
import { Coverage } from "../look/coverage.js";
import { byId } from "../look/dom.js";
import { failureNote } from "../look/job.js";
import { beginPage } from "../look/page.js";
import { bindAddress, numberField, Store } from "../look/state.js";
import { drawFirstPicture } from "./firstPicture.js";
import type { Questions } from "./questions.js";
import { Stage } from "./stage.js";
import {
  answerGap,
  answerGuess,
  codeOf,
  consistency,
  type Context,
  everyValue,
  oneDay,
  smoothing,
  theCap,
  theResult,
  theTree,
} from "./steps.js";

const STEPS = [oneDay, everyValue, theCap, theTree, consistency, smoothing, theResult];

beginPage();
const store = new Store({ epsilon: numberField(0.1, 0.01, 2, false) }, location.search);
bindControls(document, store);
bindAddress(store);

let active = 0;
let seed = 4; // a tree whose noise is of the usual size: near the median of 200
const context: Context = {
  call: callsOf<Questions>(
    () => new Worker(new URL("../workers/story.ts", import.meta.url), { type: "module" }),
  ),
  stage: new Stage(),
  epsilon: () => store.state.epsilon,
  chosen(name) {
    if (name === "tree") return `tree ${seed}`;
    const radio = document.querySelector<HTMLInputElement>(`input[name=${name}]:checked`);
    return radio?.value ?? byId(name).getAttribute("aria-pressed") ?? "";
  },
};

/** The first picture has a Worker's newest answer, and is drawn again where its width changes. */
let first: Parameters<typeof drawFirstPicture> | undefined;
const drawFirst = (): void => void (first && drawFirstPicture(...first));
async function showFirst(): Promise<void> {
  const epsilon = context.epsilon();
  const found = await context.call("helplineDays", epsilon);
  if (epsilon !== context.epsilon()) return;
  first = [found, epsilon];
  drawFirst();
}
new ResizeObserver(drawFirst).observe(byId("panel-secret"));

/** Under each interval: how often it holds. */
const coverages = [
  ["first-runs", "helpline", "The minutes of one day, with fresh noise each time"],
  ["day-runs", "weeks", "The noise on the sum of seven weeks, fresh each time"],
  ["result-runs", "result", "The sum of seven weeks, with fresh noise each time"],
] as const;
const repeated = coverages.map(
  ([place, which, what]) =>
    new Coverage(byId(place), what, (count) => context.call("runs", which, context.epsilon(), count)),
);

/** One question at a time; while it is answered, only the newest one waits. */
let busy = false;
let stale = false;
async function show(): Promise<void> {
  stale = busy;
  if (busy) return;
  busy = true;
  try {
    const step = active;
    await STEPS[step]!(context);
    context.stage.shows(step);
  } catch {
    byId("stage").append(failureNote(() => void show()));
  }
  busy = false;
  if (stale) await show();
}

const steps = [...document.querySelectorAll<HTMLElement>(".step")];
const watch = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) enter(steps.indexOf(target as HTMLElement));
  },
  { rootMargin: "-48% 0px -48% 0px" },
);
for (const step of steps) {
  watch.observe(step);
  step.addEventListener("focusin", () => enter(steps.indexOf(step)));
}

function enter(step: number): void {
  if (step === active && steps[step]!.classList.contains("active")) return;
  active = step;
  document.body.classList.remove("fogged");
  steps.forEach((element, i) => element.classList.toggle("active", i === step));
  void show();
}

store.subscribe(() => {
  for (const one of repeated) one.reset();
  void showFirst();
  void show();
});
for (const input of document.querySelectorAll<HTMLInputElement>(
  ".step input:not([name=epsilon], [data-slides])",
))
  input.addEventListener("input", () => void show());
for (const id of ["cap-choice", "story-peek"])
  byId(id).addEventListener("click", () => {
    byId(id).setAttribute("aria-pressed", String(byId(id).getAttribute("aria-pressed") !== "true"));
    void show();
  });
byId("new-tree").addEventListener("click", () => {
  seed++;
  void show();
});
byId("view-day").addEventListener("click", (event) => {
  const over = document.querySelector("#view-day .u-over")!.getBoundingClientRect();
  const minute = ((event.clientX - over.left) / over.width) * 1440;
  void tellGap(minute);
});
/** An answer about other settings than those that are shown is not told. */
async function tellGap(minute: number): Promise<void> {
  const asked = (): string => `${context.chosen("shown")} ${context.epsilon()}`;
  const before = asked();
  const answer = context.chosen("shown") === "raw" ? answerGap(minute) : await answerGuess(context);
  if (asked() === before) byId("gap-answer").textContent = answer;
}

/** Clears the answer about the gap: it belongs to one release and must not stand beside another. */
const forgetGap = (): void => void (byId("gap-answer").textContent = "");
store.subscribe(forgetGap);
for (const input of document.querySelectorAll("input[name=shown]"))
  input.addEventListener("input", forgetGap);
byId("story-copy").addEventListener("click", () => void copy(codeOf(store.state.epsilon), "story-status"));
byId("install-copy").addEventListener(
  "click",
  () => void copy(byId("install").textContent, "install-status"),
);

async function copy(text: string, status: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    byId(status).textContent = "Copied.";
  } catch {
    byId(status).textContent = "No clipboard here: select it and copy it.";
  }
}

void showFirst();
enter(0);
