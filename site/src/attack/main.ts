/** The attack's page: a game of ten rounds, textbook noise broken, and the audit. */
import { bindControls } from "../look/controls.js";
import { byId, h } from "../look/dom.js";
import { amount, percent } from "../look/format.js";
import { beginPage } from "../look/page.js";
import { addressOf, bindAddress, numberField, Store } from "../look/state.js";
import { bestPossible, coin, play, type Round, trueSum, world } from "./game.js";
import { Breaking } from "./breaking.js";
import { Machine } from "./machine.js";
import { type Past, releasePicture, worldPicture } from "./pictures.js";

const ROUNDS = 10;
/** Rounds that are played for the visitor, to see the curves. */
const MORE = 200;

beginPage();
const store = new Store({ epsilon: numberField(1, 0.1, 8, false) }, location.search);
bindControls(document, store);
bindAddress(store);
const machine = new Machine(() => store.state.epsilon);
const breaking = new Breaking(() => store.state.epsilon);

let round: Round;
let past: Past[] = [];
/** Rounds of the visitor, and those that were guessed right. */
let played = 0;
let right = 0;
const seen = () => document.querySelector<HTMLInputElement>("input[name=seen]:checked")!.value;

for (const which of [0, 1] as const)
  byId("worlds").append(
    h(
      "div",
      { class: "world" },
      h("strong", {}, which === 0 ? "World A: the caller hung up" : "World B: the call took an hour"),
      worldPicture(
        world(which),
        which === 0 ? "World A: the tenth call took 0 minutes" : "World B: the tenth call took 60 minutes",
      ),
    ),
  );

function begin(): void {
  [past, played, right] = [[], 0, 0];
  byId("round").textContent = `Round 1 of ${ROUNDS}. Press A or B. The noise is secret and fresh every time.`;
  next();
}

function next(): void {
  round = play(store.state.epsilon, coin());
  show();
}

function show(): void {
  const raw = seen() === "raw";
  const width = Math.max(300, byId("seen").clientWidth);
  const over = played === ROUNDS;
  const { standardError } = round;
  byId("seen").replaceChildren(
    releasePicture(over ? undefined : shownSum(), past, { standardError, width, raw }),
  );
  byId("seen").setAttribute(
    "aria-label",
    over ? `${past.length} published sums and the curves they come from` : `Published: ${amount(shownSum())}`,
  );
  byId<HTMLButtonElement>("watch").disabled = raw || !over;
  for (const id of ["guess-0", "guess-1"]) byId<HTMLButtonElement>(id).disabled = over;
  byId<HTMLButtonElement>("share-score").disabled = !over;
  byId("score").replaceChildren(
    ...(played === 0
      ? []
      : [
          row("you", "", right / played),
          row("best possible", "best", raw ? 1 : bestPossible(store.state.epsilon)),
          row("a coin", "coin", 0.5),
        ]),
  );
}

const shownSum = (): number => (seen() === "raw" ? trueSum(round.which) : round.sum);

function row(name: string, kind: string, share: number): HTMLElement {
  const bar = h("i");
  bar.style.width = `${100 * share}%`;
  return h(
    "div",
    { class: `score-row ${kind}` },
    h("span", {}, name),
    h("span", { class: "track" }, bar),
    h("b", {}, percent(share)),
  );
}

function guess(which: 0 | 1): void {
  if (played === ROUNDS) return;
  const hit = which === round.which;
  past.push({ which: round.which, sum: shownSum(), hit });
  played++;
  right += Number(hit);
  const verdict = `${hit ? "Right" : "Wrong"}: it was world ${round.which === 0 ? "A" : "B"}.`;
  byId("round").textContent =
    played === ROUNDS
      ? `${verdict} You got ${right} of ${ROUNDS}. On average nobody gets more than ${percent(bestPossible(store.state.epsilon))} of private rounds.`
      : `${verdict} Round ${played + 1} of ${ROUNDS}.`;
  if (played < ROUNDS) next();
  else show();
}

/** Plays on with the best guess there is: the nearer sum. */
function watch(): void {
  const middle = (trueSum(0) + trueSum(1)) / 2;
  let hits = 0;
  for (let i = 0; i < MORE; i++) {
    const { which, sum } = play(store.state.epsilon, coin());
    const hit = sum > middle === (which === 1);
    hits += Number(hit);
    past.push({ which, sum, hit });
  }
  byId("round").textContent =
    `${MORE} more rounds with the best guess, the nearer sum: ${percent(hits / MORE)} right. ${percent(bestPossible(store.state.epsilon))} is the most that ε = ${store.state.epsilon} allows on average.`;
  show();
}

const result = () =>
  `I guessed ${right} of ${ROUNDS} private releases at ε = ${store.state.epsilon}. The best possible is ${percent(bestPossible(store.state.epsilon))}. ${addressOf(store)}`;

async function share(): Promise<void> {
  try {
    await navigator.clipboard.writeText(result());
    byId("share-status").textContent = "Copied.";
  } catch {
    byId("share-status").textContent = result();
  }
}

byId("guess-0").addEventListener("click", () => guess(0));
byId("guess-1").addEventListener("click", () => guess(1));
byId("watch").addEventListener("click", watch);
document.addEventListener("keydown", (event) => {
  const typing = (event.target as HTMLElement).closest("input:not([type=range], [type=radio]), select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const which = ["a", "b"].indexOf(event.key.toLowerCase());
  if (which >= 0) guess(which as 0 | 1);
});
byId("game-again").addEventListener("click", begin);
byId("share-score").addEventListener("click", () => void share());
for (const input of document.querySelectorAll("input[name=seen]")) input.addEventListener("input", begin);
store.subscribe(() => {
  begin();
  machine.clear();
  breaking.clear();
});
begin();
