/** "Choose ε by its odds": what each ε allows somebody to guess, and the error it costs on the visitor's own numbers. */
import { type Meaning, span } from "../data/meaning.js";
import type { Run } from "../look/coverage.js";
import { byId, download, h } from "../look/dom.js";
import { amount, percent, withUnit } from "../look/format.js";
import type { Store } from "../look/state.js";
import { WhenSeen } from "../look/whenSeen.js";
import type { Part } from "../workers/protocol.js";
import { METHODS, type State } from "./state.js";

const EPSILONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
/** Values of one person in the example of the statement. */
const SEVERAL = 10;

/** How sure somebody can be at most of the right one of two guesses that were equally likely before. */
export const sureness = (epsilon: number): number => 1 / (1 + Math.exp(-epsilon));

/** A bound is rounded up: "52.5 %". */
export const atMost = (share: number): string => `${amount(Math.ceil(1000 * share) / 10)}\u00a0%`;

/** Half the 95 % interval of a sum, as a share of its truth. */
export const costOf = ({ low, high, truth }: Run): number => (high - low) / 2 / Math.abs(truth);

/** One release with fresh noise; undefined if there is none. */
type Ask = (epsilon: number, range: Part) => Promise<Run | undefined>;

export class Chooser {
  readonly #store: Store<State>;
  readonly #ask: Ask;
  readonly #seen: WhenSeen<Part>;
  readonly #cells = new Map<number, HTMLElement>();
  readonly #rows = new Map<number, HTMLElement>();
  readonly #costs = new Map<number, number>();
  #range: Part | undefined;
  /** Range and settings that the errors were computed for, as JSON. */
  #about = "";
  /** Each question has a number of its own: answers to an older one are dropped. */
  #turn = 0;

  constructor(store: Store<State>, ask: Ask) {
    this.#store = store;
    this.#ask = ask;
    this.#seen = new WhenSeen(byId("choose"), (range) => void this.#fill(range));
    const head = ["ε", "Somebody can be this sure, at most", "Noise on the sum, 95 %", ""];
    const body = EPSILONS.map((epsilon) => this.#row(epsilon));
    byId("choose-table").replaceChildren(
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, ...head.map((text) => (text === "" ? h("td") : h("th", { scope: "col" }, text)))),
        ),
        h("tbody", {}, ...body),
      ),
    );
    store.subscribe(() => this.#mark());
    this.#mark();
  }

  /**
   * Clears errors that no longer belong to the data; others follow when settings rest and somebody looks.
   * @param about all settings that errors depend on besides ε
   */
  want(range: Part | undefined, about: string): void {
    const key = JSON.stringify([range, about]);
    if (key === this.#about) return;
    this.#about = key;
    this.#turn++;
    this.#range = range;
    this.#costs.clear();
    for (const cell of this.#cells.values()) cell.textContent = range === undefined ? "–" : "…";
    this.#seen.want(range);
  }

  /** The promise in plain words, for those who decide: a text file. */
  async export(meaning: Meaning, explanation: string): Promise<void> {
    const { state } = this.#store;
    const range = this.#range;
    const cost = range === undefined ? undefined : await this.#cost(state.epsilon, range);
    const text = statementOf(state, meaning, explanation, { range, cost });
    download("privacy-statement.txt", new Blob([text], { type: "text/plain" }));
  }

  async #cost(epsilon: number, range: Part): Promise<number | undefined> {
    const known = this.#costs.get(epsilon);
    if (known !== undefined) return known;
    const run = await this.#ask(epsilon, range);
    return run && costOf(run);
  }

  async #fill(range: Part): Promise<void> {
    const turn = ++this.#turn;
    for (const epsilon of EPSILONS) {
      const cost = await this.#cost(epsilon, range);
      if (turn !== this.#turn || cost === undefined) return;
      this.#costs.set(epsilon, cost);
      this.#cells.get(epsilon)!.textContent = Number.isFinite(cost) ? `±\u00a0${percent(cost)}` : "–";
    }
  }

  #row(epsilon: number): HTMLElement {
    const use = h("button", { type: "button", "aria-label": `Use ε = ${epsilon}` }, "Use");
    use.addEventListener("click", () => this.#store.set({ epsilon }));
    const cell = h("td", {}, "–");
    const bar = h("i");
    bar.style.width = `${100 * sureness(epsilon)}%`;
    const sure = h(
      "td",
      { class: "sure" },
      h("span", {}, atMost(sureness(epsilon))),
      h("span", { class: "track" }, bar),
    );
    const row = h("tr", {}, h("th", { scope: "row" }, String(epsilon)), sure, cell, h("td", {}, use));
    this.#cells.set(epsilon, cell);
    this.#rows.set(epsilon, row);
    return row;
  }

  #mark(): void {
    for (const [epsilon, row] of this.#rows)
      if (epsilon === this.#store.state.epsilon) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
  }
}

export function statementOf(
  { epsilon, max, holdout, maxRange, method }: State,
  meaning: Meaning,
  explanation: string,
  { range, cost }: { readonly range: Part | undefined; readonly cost: number | undefined },
): string {
  const several = SEVERAL * epsilon;
  const costs =
    range === undefined || cost === undefined
      ? "Not measured: let the stream pause or end, then download the statement again."
      : `The sum over ${span(range.to - range.from, meaning)} is off by at most ${percent(cost)} from noise, with 95 % probability. This figure was computed from the data themselves. It is for your decision and not for publication.`;
  return `Privacy statement

Promise
ε = ${epsilon}. Replacing any one value by another between 0 and ${withUnit(max, meaning.unit)} makes nothing that is published more than ${amount(Number(Math.exp(epsilon).toPrecision(4)))} times as likely.${method === "pak" ? " This method also has a δ, the probability that the promise fails." : ""}

In odds
Somebody who holds two guesses about one value for equally likely is at most ${atMost(sureness(epsilon))} sure of the right one after seeing everything. Without it: 50 %.

Several values of one person
They are protected together by their number times ε. ${SEVERAL} values: ε = ${amount(several)}, at most ${atMost(sureness(several))} sure.

Cost
${costs}

Settings
Method ${METHODS[method].name}. Largest value possible ${withUnit(max, meaning.unit)}, a public bound. ${amount(holdout)} values held out, longest range ${amount(maxRange)} values.

What the library says about the release on the page
${explanation}
`;
}
