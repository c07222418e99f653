/** The published numbers of a log, each with its interval and the truth. Made once; numbers change in place. */
import { byId, h } from "../look/dom.js";
import { amount } from "../look/format.js";
import type { LogAnswer, Question } from "../workers/logPlayer.js";

interface Card {
  readonly root: HTMLElement;
  readonly title: HTMLElement;
  readonly value: HTMLElement;
  readonly interval: HTMLElement;
  readonly truth: HTMLElement;
}

/** Title and text of a card without a number. */
const WAITING: Readonly<Record<Question, readonly [title: string, words: string]>> = {
  total: ["All so far", "after the first period"],
  day: ["Last whole day", "after the first midnight"],
  period: ["Last period", "after the first period"],
  range: ["Marked range", "mark a part of the plot, or choose days above"],
  limited: ["People over the limit", "after the first midnight, if noise does not hide it"],
};

export class LogCards {
  readonly #cards = new Map<Question, Card>();

  constructor() {
    for (const question of Object.keys(WAITING) as Question[]) {
      const part = (name: string) => h("span", { class: name });
      const [title, value, interval] = [h("h3"), part("card-value private"), part("card-interval small")];
      const truth = h("span", { class: "small secret" });
      const root = h("div", { class: "log-card", id: `card-${question}` }, title, value, interval, truth);
      this.#cards.set(question, { root, title, value, interval, truth });
      this.clear(question);
    }
    byId("log-cards").replaceChildren(...[...this.#cards.values()].map(({ root }) => root));
  }

  clear(question: Question): void {
    const { title, value, interval, truth } = this.#cards.get(question)!;
    title.textContent = WAITING[question][0];
    value.textContent = "–";
    interval.textContent = WAITING[question][1];
    truth.textContent = "";
  }

  /** Hides a card that can have no number. */
  offer(question: Question, offered: boolean): void {
    this.#cards.get(question)!.root.hidden = !offered;
  }

  /**
   * @param when the time it is about
   * @param unit of the number; ends of the interval are rounded outwards
   */
  show(question: Question, answer: LogAnswer | undefined, when: string, unit: Unit): void {
    if (answer?.value === undefined) return this.clear(question);
    const { title, value, interval, truth } = this.#cards.get(question)!;
    const share = question === "limited";
    const number = (x: number, rounded = Math.round) =>
      share
        ? `${amount(rounded(1000 * x) / 10)}\u00a0%`
        : amount(unit.whole ? rounded(Math.max(0, x)) : Math.max(0, x));
    title.textContent = `${WAITING[question][0]}: ${when}`;
    value.textContent = `${number(answer.value)}${share ? "" : `\u00a0${unit.name}`}`;
    interval.textContent = `95\u00a0%: ${number(answer.low, Math.floor)} to ${number(answer.high, Math.ceil)}`;
    const all = unit.limited && !share ? ` within the limit, ${number(answer.all)} in all` : "";
    truth.textContent = `Truth: ${number(answer.truth)}${all}`;
  }
}

export interface Unit {
  readonly name: string;
  /** Whether numbers are counts. */
  readonly whole: boolean;
  /** Whether a limit decides which events count. */
  readonly limited: boolean;
}
