/** The first view: a stream and its private release, side by side as it happens. */
import type { Statement } from "brume";
import type { Meaning } from "../data/example.js";
import { byId, download, h } from "../look/dom.js";
import { amount, count, place, span, withUnit } from "../look/format.js";
import { columnEnd } from "../plots/columns.js";
import { StreamPlot } from "../plots/stream.js";
import { FIELDS, type State, type Store } from "../state.js";
import type { Frame, FromStream, ReleaseSettings, ToStream } from "../workers/protocol.js";
import { accountView, coreNote } from "./account.js";
import { answerView } from "./answer.js";
import { bindControls } from "./controls.js";
import type { Data, DataChoice } from "./data.js";

const RELEASE_KEYS = [
  ...(["epsilon", "max", "holdout", "maxRange", "smoother", "blocks", "alpha"] as const),
  ...(["skip", "variant", "seed", "noise"] as const),
];

const VARIANTS: Record<State["variant"], string> = {
  ours: "ToPS with exact noise and warm start",
  paper: "ToPS as printed in the paper",
  pak: "An earlier system, for comparison: (ε, δ)",
};

/** Milliseconds between answers to a range that is still filling. */
const ASK_AGAIN = 250;

export class LiveView {
  readonly #store: Store;
  readonly #choice: DataChoice;
  readonly #worker: Worker;
  readonly #plot: StreamPlot;
  #frame: Frame | undefined;
  #account: Statement | undefined;
  /** The Worker is publishing again; the newest settings follow when it is done. */
  #publishing = false;
  #stale = false;
  #asked = 0;

  constructor(store: Store, choice: DataChoice) {
    this.#store = store;
    this.#choice = choice;
    this.#worker = new Worker(new URL("../workers/stream.ts", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromStream>) => this.#hear(data));
    this.#plot = new StreamPlot(byId("stream-plot"), {
      meaning: choice.data.meaning,
      total: choice.data.total,
      holdout: store.state.holdout,
      heldLabel: "held out",
      onSelect: (from, to) => store.set({ from, to }),
      onHover: (column) => this.#hover(column),
    });
    bindControls(byId("view-live"), store);
    this.#listen();
    this.#load(choice.data);
    this.#describe(store.state);
    choice.subscribe((data) => this.#load(data));
    store.subscribe((state, before) => this.#follow(state, before));
  }

  get #meaning(): Meaning {
    return this.#choice.data.meaning;
  }

  #load({ source, total, meaning }: Data): void {
    const { state } = this.#store;
    this.#plot.change({ total, meaning, holdout: state.holdout });
    this.#plot.select(state.from, state.to);
    byId("answer").replaceChildren(emptyAnswer());
    byId("progress-note").textContent = "";
    this.#frame = undefined;
    this.#answered = 0;
    this.#tell({ type: "load", source });
    this.#publish();
    this.#tell({ type: "seek", at: this.#start() });
    this.#tell({ type: "play", speed: state.at > 0 ? 0 : state.speed });
    this.#ask();
    this.#describe(state);
  }

  /** A link's position; else far enough in for a picture, or at the end for those who want no motion. */
  #start(): number {
    const { at, holdout } = this.#store.state;
    const { total } = this.#choice.data;
    if (at > 0) return at;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return total;
    return holdout + Math.floor(0.3 * total);
  }

  #follow(state: State, before: State): void {
    if (RELEASE_KEYS.some((key) => state[key] !== before[key]) || state.window !== before.window)
      this.#publish();
    if (state.holdout !== before.holdout) this.#plot.change({ holdout: state.holdout });
    if (state.speed !== before.speed || state.at !== before.at)
      this.#tell({ type: "play", speed: state.at > 0 ? 0 : state.speed });
    if (state.from !== before.from || state.to !== before.to) {
      this.#plot.select(state.from, state.to);
      this.#ask();
    }
    this.#describe(state);
  }

  /** One release at a time: while the Worker is busy, only the newest settings wait. */
  #publish(): void {
    this.#stale = this.#publishing;
    if (this.#publishing) return;
    this.#publishing = true;
    const { state } = this.#store;
    const settings = Object.fromEntries(
      RELEASE_KEYS.map((key) => [key, state[key]]),
    ) as unknown as ReleaseSettings;
    this.#tell({ type: "publish", settings, window: state.window });
  }

  #hear(message: FromStream): void {
    switch (message.type) {
      case "frame":
        return this.#show(message);
      case "account":
        this.#account = message.account;
        byId("account").replaceChildren(...accountView(message.account, message.explanation, this.#meaning));
        byId("core-note").textContent = coreNote(message.account);
        return this.#describe(this.#store.state);
      case "paused":
        return this.#store.set({ at: Math.max(1, message.at) });
      case "published":
        byId("release-error").textContent = message.problem;
        this.#publishing = false;
        if (this.#stale) this.#publish();
        else this.#ask();
        return;
      case "answer":
        this.#answered = message.to;
        byId("answer").replaceChildren(...answerView(message, this.#meaning, byId("answer").clientWidth));
        return;
      case "exported":
        return this.#save(message.first, message.values);
    }
  }

  #show(frame: Frame): void {
    this.#frame = frame;
    this.#plot.show(frame);
    const { at, total, published } = frame;
    const { from, to } = this.#store.state;
    byId("progress-note").textContent =
      published === 0
        ? `${count(at)} of ${count(total)} values: all held out so far, nothing is published yet`
        : `${count(at)} of ${count(total)} values, ${count(published)} published`;
    // The last frame asks at once: no later one would.
    const behind = this.#answered < Math.min(to, at) || at < this.#answered;
    if (from < to && behind && (at >= total || performance.now() - this.#asked > ASK_AGAIN)) this.#ask();
    if (at >= total) this.#describe(this.#store.state);
  }

  /** How far the answer that is shown reaches. */
  #answered = 0;

  #ask(): void {
    const { from, to } = this.#store.state;
    this.#asked = performance.now();
    if (from < to) this.#tell({ type: "ask", from, to });
    else byId("answer").replaceChildren(emptyAnswer());
  }

  #hover(column: number | undefined): void {
    const truth = column === undefined ? NaN : (this.#frame?.truth[column] ?? NaN);
    const released = column === undefined ? NaN : (this.#frame?.private[column] ?? NaN);
    const note = byId("hover-note");
    if (Number.isNaN(truth)) note.textContent = "";
    else {
      const { unit } = this.#meaning;
      const where = place(columnEnd(column!, this.#frame!.total), this.#meaning);
      const answer = Number.isNaN(released) ? "" : `, private ${withUnit(released, unit)}`;
      note.textContent = `${where}: truth ${amount(truth)}${answer}`;
    }
  }

  /** Everything that is written beside fields and plot. */
  #describe(state: State): void {
    const meaning = this.#meaning;
    const text = (id: string, words: string) => (byId(id).textContent = words);
    text("variant-hint", VARIANTS[state.variant]);
    text("holdout-span", span(state.holdout, meaning));
    text("range-span", span(state.maxRange, meaning));
    text("window-span", `over ${span(state.window, meaning)}`);
    text("average-note", `Moving averages over ${span(state.window, meaning)}`);
    for (const element of document.querySelectorAll("[data-unit]")) element.textContent = meaning.unit;
    const input = (name: string) => document.querySelector<HTMLElement>(`#controls [name=${name}]`)!;
    input("blocks").hidden = state.smoother !== "moving";
    input("alpha").hidden = state.smoother !== "exponential";
    this.#describeSkip(state);
    const ended = this.#frame !== undefined && this.#frame.at >= this.#choice.data.total;
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
      field.hidden = state.variant === "pak";
  }

  #describeSkip(state: State): void {
    const select = byId<HTMLSelectElement>("skip");
    const fanout = this.#account?.fanout ?? 16;
    const levels = Math.max(1, Math.ceil(Math.log(state.maxRange) / Math.log(fanout) - 1e-9));
    const wanted = [
      "auto",
      "paper",
      ...Array.from({ length: Math.max(levels, Number(state.skip) + 1 || 0) }, (_, s) => String(s)),
    ];
    if (select.options.length !== wanted.length)
      select.replaceChildren(
        ...wanted.map((word) =>
          h(
            "option",
            { value: word },
            word === "auto" ? "automatic" : word === "paper" ? "by the paper’s formula" : word,
          ),
        ),
      );
    select.value = state.skip;
    byId("skip-hint").textContent =
      this.#account === undefined
        ? ""
        : `${count(this.#account.skipLevels)} skipped: blocks of ${span(this.#account.blockLength, this.#meaning)}`;
  }

  #listen(): void {
    const click = (id: string, action: () => void) => byId(id).addEventListener("click", action);
    click("play", () => {
      if (this.#store.state.at > 0) this.#store.set({ at: 0 });
      else this.#tell({ type: "pause" });
    });
    click("restart", () => {
      this.#tell({ type: "seek", at: this.#store.state.holdout });
      this.#store.set({ at: 0 });
      this.#tell({ type: "play", speed: this.#store.state.speed });
      this.#describe(this.#store.state);
    });
    click("ask-all", () => this.#store.set({ from: this.#store.state.holdout, to: this.#choice.data.total }));
    click("new-seed", () =>
      this.#store.set({ seed: crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36) }),
    );
    click("defaults", () => {
      const own = this.#choice.data.source.kind === "values";
      const keys = RELEASE_KEYS.filter((key) => !own || !["max", "holdout", "maxRange"].includes(key));
      this.#store.set(Object.fromEntries(keys.map((key) => [key, FIELDS[key].initial])));
    });
    click("download-stream", () => this.#tell({ type: "export" }));
    for (const id of ["from", "to"])
      byId(id).addEventListener("change", () => {
        const read = (name: "from" | "to") => FIELDS[name].read(byId<HTMLInputElement>(name).value);
        const [from, to] = [read("from"), read("to")];
        if (from !== undefined && to !== undefined)
          this.#store.set({ from: Math.min(from, to), to: Math.max(from, to) });
      });
  }

  #save(first: number, values: Float64Array): void {
    const rows = Array.from(values, (value, i) => `${first + i},${value}`);
    download("private-stream.csv", ["position,private", ...rows].join("\n") + "\n", "text/csv");
  }

  #tell(message: ToStream): void {
    this.#worker.postMessage(message);
  }
}

const emptyAnswer = () =>
  h(
    "p",
    { class: "empty" },
    "Drag over the plot, or fill in two positions, to see the sum and mean of that range.",
  );
