/** Everything that is written beside the lab's fields and plot. */
import type { Statement } from "brume";
import { type Meaning, span } from "../data/meaning.js";
import { byId, h, svg } from "../look/dom.js";
import { count } from "../look/format.js";
import type { Store } from "../look/state.js";
import type { Frame } from "../workers/protocol.js";
import { METHODS, type State } from "./state.js";

export class Describer {
  readonly #store: Store<State>;

  constructor(store: Store<State>) {
    this.#store = store;
    byId("legend").replaceChildren(...LEGEND.map(([name, mark]) => h("li", {}, mark(), name)));
    this.#bindRange();
    this.#bindSeeds();
  }

  clear(): void {
    for (const id of ["progress-note", "average-note", "release-error"]) byId(id).textContent = "";
  }

  all(meaning: Meaning, state: State, frame: Frame | undefined): void {
    const text = (id: string, words: string) => (byId(id).textContent = words);
    const { name, hint } = METHODS[state.method];
    text("basic-hint", `Smaller ε: more private, more noise. ${name}: ${hint}.`);
    text("holdout-span", span(state.holdout, meaning));
    text("range-span", span(state.maxRange, meaning));
    text("window-span", span(state.window, meaning));
    for (const [key, smoother] of [
      ["blocks", "moving"],
      ["alpha", "exponential"],
    ] as const)
      document.querySelector<HTMLElement>(`[name=${key}]`)!.hidden = state.smoother !== smoother;
    const ended = frame !== undefined && frame.at >= frame.total;
    const play = byId<HTMLButtonElement>("play");
    play.textContent = ended ? "Ended" : state.at > 0 ? "Play" : "Pause";
    play.disabled = ended;
    for (const [id, value] of [
      ["from", state.from],
      ["to", state.to],
    ] as const) {
      const field = byId<HTMLInputElement>(id);
      if (field !== document.activeElement) field.value = state.from < state.to ? String(value) : "";
    }
    for (const field of document.querySelectorAll<HTMLElement>(".tops-only"))
      field.hidden = state.method === "pak" || state.method === "naive";
  }

  frame({ at, total, published, averaged }: Frame, meaning: Meaning): void {
    byId("average-note").textContent = `Averages over ${span(averaged, meaning)}.`;
    byId("progress-note").textContent =
      published === 0
        ? `${count(at)} of ${count(total)} values: all held out so far, nothing is published yet.`
        : `${count(at)} of ${count(total)} values, ${count(published)} published.`;
  }

  account({ skipLevels, blockLength }: Statement, meaning: Meaning): void {
    byId("skip-hint").textContent = `${count(skipLevels)} skipped: blocks of ${span(blockLength, meaning)}.`;
  }

  #bindRange(): void {
    const { fields } = this.#store;
    for (const id of ["from", "to"])
      byId(id).addEventListener("change", () => {
        const read = (name: "from" | "to") => fields[name].read(byId<HTMLInputElement>(name).value);
        const [from, to] = [read("from"), read("to")];
        // While the other end is still to be written, the two may be the wrong way round.
        if (from !== undefined && to !== undefined && from <= to) this.#store.set({ from, to });
      });
  }

  #bindSeeds(): void {
    byId("new-seed").addEventListener("click", () =>
      this.#store.set({ seed: crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36) }),
    );
    byId("defaults").addEventListener("click", () => {
      const { fields, state } = this.#store;
      const fixed = state.file === "" ? [] : ["max", "holdout", "maxRange", "window", "speed"];
      const kept = [...fixed, "file", "from", "to", "at", "left", "right"];
      const keys = (Object.keys(fields) as (keyof State)[]).filter((key) => !kept.includes(key));
      this.#store.set(Object.fromEntries(keys.map((key) => [key, fields[key].initial])));
    });
  }
}

const mark = (...shapes: SVGElement[]) =>
  svg("svg", { width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" }, ...shapes);
const line = (colour: string, width: number, dash = "") =>
  svg("path", {
    d: "M1 7H25",
    stroke: `var(--${colour})`,
    "stroke-width": width,
    "stroke-dasharray": dash,
  });
const box = (fill: string, edge: string, dash = "") =>
  svg("rect", {
    x: 1,
    y: 1,
    width: 24,
    height: 12,
    fill: `var(--${fill})`,
    stroke: `var(--${edge})`,
    "stroke-dasharray": dash,
  });

const hatch = () =>
  svg("path", {
    d: "M3 13L13 1M9 13L19 1M15 13L24 2M1 7L6 1M21 13L25 8",
    stroke: "var(--held)",
    "stroke-width": 2,
  });

export const logLegend = (): HTMLElement[] =>
  (
    [
      ["secret, of what counts", () => mark(line("secret", 1.2))],
      ["secret, with what the limit leaves out", () => mark(line("secret", 1, "2 4"))],
      ["private", () => mark(line("private", 2.6))],
      ["95 % interval", () => mark(box("private-soft", "private-edge"))],
    ] as const
  ).map(([name, draw]) => h("li", {}, draw(), name));

/** Shape as well as colour tells what is what. */
const LEGEND: readonly [string, () => SVGElement][] = [
  ["secret", () => mark(line("secret", 1.5))],
  ["private", () => mark(line("private", 2.6))],
  ["margin of the noise, 95 %", () => mark(box("private-soft", "private-edge"))],
  ["cut off by θ", () => mark(box("clamped-soft", "clamped", "2 3"))],
  ["published at the time", () => mark(line("private", 1.4, "4 4"))],
  ["held out", () => mark(box("card", "held"), hatch())],
];
