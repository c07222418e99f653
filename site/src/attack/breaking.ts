/** "Break the textbook": the same attack on textbook noise and on Brume, side by side, a few runs at a time. */
import { byId, h } from "../look/dom.js";
import { amount, atLeast, count, percent } from "../look/format.js";
import { MAX } from "./game.js";
import { Breaker, brume, type Findings, textbook } from "./textbook.js";

/** Releases of each; half of them in each world. */
const RUNS = 10_000;
/** Milliseconds of work before the page may paint and hear the visitor. */
const SLICE = 10;

export class Breaking {
  readonly #epsilon: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(epsilon: () => number) {
    this.#epsilon = epsilon;
    byId("break-go").addEventListener("click", () => this.#start());
    byId("break-stop").addEventListener("click", () => this.#end());
    this.clear();
  }

  /** Other settings: what was found no longer belongs to them. */
  clear(): void {
    this.#end();
    byId("break-say").textContent = "";
    const nothing = { runs: 0, given: 0, epsilon: 0, example: undefined };
    this.#show(nothing, nothing);
  }

  #start(): void {
    this.clear();
    byId<HTMLButtonElement>("break-stop").disabled = false;
    const epsilon = this.#epsilon();
    const breakers = [new Breaker(textbook(MAX / epsilon)), new Breaker(brume(epsilon))] as const;
    let runs = 0;
    const slice = (): void => {
      const end = performance.now() + SLICE;
      do {
        for (const breaker of breakers) breaker.once((runs % 2) as 0 | 1);
        runs++;
      } while (runs < RUNS && performance.now() < end);
      const [broken, held] = breakers.map((breaker) => breaker.findings()) as [Findings, Findings];
      this.#show(broken, held);
      if (runs < RUNS) this.#timer = setTimeout(slice);
      else {
        this.#end();
        byId("break-say").textContent =
          `Textbook noise promised ε = ${amount(epsilon)}; these runs show ε ≥ ${atLeast(broken.epsilon)}, with 99 % confidence. ` +
          (held.given === 0 ? "Against Brume the attack finds nothing." : "Brume is broken, too.");
      }
    };
    slice();
  }

  #end(): void {
    clearTimeout(this.#timer);
    byId<HTMLButtonElement>("break-stop").disabled = true;
  }

  #show(broken: Findings, held: Findings): void {
    const promised = amount(this.#epsilon());
    const card = (name: string, { runs, given, epsilon, example }: Findings) => {
      const facts: [string, string][] = [
        ["releases", count(runs)],
        ["possible in one world only", runs === 0 ? "–" : percent(given / runs)],
        ["such an output", example === undefined ? "–" : String(example)],
        [`ε shown, ${promised} promised`, epsilon === 0 ? "none" : `≥ ${atLeast(epsilon)}`],
      ];
      return [
        h("strong", {}, name),
        h(
          "dl",
          {},
          ...facts.flatMap(([term, fact], i) => [
            h("dt", {}, term),
            h("dd", i === 3 ? { class: "shown" } : {}, fact),
          ]),
        ),
      ];
    };
    byId("break-textbook").replaceChildren(...card("Textbook: sum − t·ln(u), in doubles", broken));
    byId("break-brume").replaceChildren(...card("Brume: whole steps on a grid", held));
  }
}
