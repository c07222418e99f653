/** "Run this 200 times": the same question with fresh noise, and how often its 95 % interval held the truth. */
import { h, svg } from "./dom.js";
import { amount } from "./format.js";

/** One answer: the ends of its interval, ±Infinity for an open one, and the truth. */
export interface Run {
  readonly low: number;
  readonly high: number;
  readonly truth: number;
}

export const holds = ({ low, high, truth }: Run): boolean => low <= truth && truth <= high;

/** "99.5 %": never rounded up to 100. */
const share = (part: number): string => `${amount(Math.floor(1000 * part) / 10)}\u00a0%`;

const RUNS = 200;
/** Fewer than this many of 200 hold with odds of 1 in 860 if each holds with 95 %. */
const SURPRISE = 180;
const HEIGHT = 90;

/** Answers with fresh noise, as many as asked for, or fewer if they take long. */
export type Ask = (count: number) => Promise<readonly Run[]>;

export class Coverage {
  readonly #ask: Ask;
  readonly #button: HTMLButtonElement;
  readonly #picture = h("div", { class: "coverage-picture" });
  readonly #count = h("span", { "aria-hidden": "true" });
  readonly #said = h("span", { class: "visually-hidden", role: "status" });
  /** Each start and each reset has a number of its own: what an older one still hears is dropped. */
  #turn = 0;
  #running = false;
  /** The newest request, awaited by the next one: an answer to old settings must not be taken for one to new settings. */
  #asked: Promise<readonly Run[]> = Promise.resolve([]);

  /** @param what is asked, for those who do not see what it stands under */
  constructor(place: HTMLElement, what: string, ask: Ask) {
    this.#ask = ask;
    this.#button = h("button", { type: "button" });
    this.#button.addEventListener("click", () => (this.#running ? this.#stop() : void this.#start()));
    place.append(
      h("div", { class: "row" }, this.#button, h("span", { class: "small" }, this.#count, this.#said)),
      this.#picture,
    );
    this.#button.setAttribute("aria-description", what);
    this.reset();
  }

  /** Whether there is an answer to repeat. */
  allow(possible: boolean): void {
    this.#button.disabled = !possible;
  }

  /** Other settings: what was counted no longer belongs to them. */
  reset(): void {
    this.#stop();
    this.#picture.hidden = true;
    this.#picture.replaceChildren();
    this.#count.textContent = this.#said.textContent = "";
  }

  #stop(): void {
    this.#turn++;
    this.#running = false;
    this.#button.textContent = `Run this ${RUNS} times`;
  }

  async #start(): Promise<void> {
    this.reset();
    const turn = ++this.#turn;
    this.#running = true;
    this.#button.textContent = "Stop";
    await this.#asked;
    const runs: Run[] = [];
    let batch = 1;
    while (runs.length < RUNS) {
      if (turn !== this.#turn) return;
      const began = performance.now();
      this.#asked = this.#ask(Math.min(batch, RUNS - runs.length)).catch(() => []);
      const more = await this.#asked;
      if (turn !== this.#turn) return;
      if (more.length === 0) return this.#fail();
      runs.push(...more);
      this.#draw(runs);
      if (performance.now() - began < 60) batch = Math.min(10, 2 * batch);
    }
    this.#stop();
    this.#said.textContent = this.#count.textContent;
  }

  #fail(): void {
    this.#stop();
    this.#said.textContent = this.#count.textContent = "The runs could not be made. Try again.";
  }

  #draw(runs: readonly Run[]): void {
    const held = runs.filter(holds).length;
    this.#count.textContent =
      `${held} of ${runs.length} intervals hold the truth: ${share(held / runs.length)}. At least 95 % are promised` +
      (runs.length < RUNS ? "." : held < SURPRISE ? "; so few are a fault or a rare accident." : ".");
    this.#picture.hidden = false;
    this.#picture.replaceChildren(intervals(runs, Math.max(240, this.#picture.clientWidth)));
  }
}

/** Each run as a line from its lower to its upper end; the truth as a line across. Those that miss have a cross. */
function intervals(runs: readonly Run[], width: number): SVGElement {
  const truth = runs[0]!.truth;
  const reach =
    1.15 *
    Math.max(1e-9, ...runs.flatMap(({ low, high }) => [truth - low, high - truth]).filter(Number.isFinite));
  const y = (value: number) => HEIGHT / 2 - (Math.max(-1, Math.min(1, (value - truth) / reach)) * HEIGHT) / 2;
  const x = (run: number) => ((run + 0.5) * width) / RUNS;
  const held = runs.filter(holds).length;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": `${runs.length} intervals; ${held} of them hold the truth`,
    },
    ...runs.map((run, i) =>
      svg("line", {
        class: holds(run) ? "run-held" : "run-missed",
        x1: x(i),
        x2: x(i),
        y1: y(run.low),
        y2: Math.max(y(run.high), y(run.low) - HEIGHT),
      }),
    ),
    svg("line", { class: "run-truth", x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
    ...runs.flatMap((run, i) =>
      holds(run) ? [] : [svg("path", { class: "run-cross", d: `M${x(i) - 4} 3l8 8m0 -8l-8 8` })],
    ),
  );
}
