/** The attack's page: a game of twenty rounds, and the audit. */
import { bindControls } from "../look/controls.js";
import { byId, h } from "../look/dom.js";
import { percent } from "../look/format.js";
import { beginPage } from "../look/page.js";
import { addressOf, bindAddress, numberField, Store } from "../look/state.js";
import { bestPossible, coin, play, type Round, trueSum, world } from "./game.js";
import { Machine } from "./machine.js";
import { releasePicture, worldPicture } from "./pictures.js";

const ROUNDS = 20;

beginPage();
const store = new Store({ epsilon: numberField(1, 0.1, 8, false) }, location.search);
bindControls(document, store);
bindAddress(store);
const machine = new Machine(() => store.state.epsilon);

let round: Round;
let played = 0;
let right = 0;
const seen = () => document.querySelector<HTMLInputElement>("input[name=seen]:checked")!.value;

for (const which of [0, 1] as const)
  byId("worlds").append(
    h(
      "div",
      { class: "world" },
      h("strong", {}, which === 0 ? "World A" : "World B"),
      worldPicture(
        world(which),
        which === 0 ? "World A: the tenth value is 0" : "World B: the tenth value is 1,000",
      ),
    ),
  );

function begin(): void {
  [played, right] = [0, 0];
  byId("round").textContent = `Round 1 of ${ROUNDS}. The noise is secret and fresh every time.`;
  next();
}

function next(): void {
  round = play(store.state.epsilon, coin());
  show();
}

function show(): void {
  const raw = seen() === "raw";
  const width = Math.max(300, byId("seen").clientWidth);
  byId("seen").replaceChildren(
    releasePicture(raw ? trueSum(round.which) : round.sum, round.standardError, width, raw),
  );
  const over = played === ROUNDS;
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
  const hit = which === round.which;
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
byId("game-again").addEventListener("click", begin);
byId("share-score").addEventListener("click", () => void share());
for (const input of document.querySelectorAll("input[name=seen]")) input.addEventListener("input", begin);
store.subscribe(() => {
  begin();
  machine.clear();
});
begin();
