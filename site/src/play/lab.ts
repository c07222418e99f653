/** The lab: a stream and its private release, side by side as it happens. */
import { Overview } from "../charts/overview.js";
import type { PictureOptions } from "../charts/picture.js";
import { type StreamChart, streamChart } from "../charts/streamChart.js";
import type { Data } from "../data/chosen.js";
import { exampleMeaning, span, wordsOf } from "../data/meaning.js";
import { announcer } from "../look/announce.js";
import { Coverage, type Run } from "../look/coverage.js";
import { byId } from "../look/dom.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import type { Store } from "../look/state.js";
import type { Frame, FromStream, Part, ToStream } from "../workers/protocol.js";
import { accountView, coreNote } from "./account.js";
import { answerView, emptyAnswer, waitingAnswer } from "./answer.js";
import type { DataChoice } from "./dataChoice.js";
import { Chooser } from "./chooser.js";
import { Describer } from "./describe.js";
import { columnInWords, shownPart, snapped, startOf, zoomed } from "./places.js";
import { Multiples, type Wanted } from "./multiples.js";
import { codeOf, saveCsv } from "./share.js";
import { RELEASE_KEYS, releaseSettings, type State } from "./state.js";
import { TimelineView } from "./timelineView.js";

/** Milliseconds between answers to a range that is still filling. */
const ASK_AGAIN = 250;
const RELEASES = 20;

export class Lab {
  readonly #store: Store<State>;
  readonly #choice: DataChoice;
  readonly #chart: StreamChart;
  readonly #overview: Overview;
  readonly #multiples = new Multiples();
  readonly #timeline: TimelineView;
  readonly #describe: Describer;
  readonly #announce = announcer(byId("announce"));
  readonly #runs = new Coverage(
    byId("answer-runs"),
    "The range above, with fresh noise each time; the truth is the sum of the values clamped to θ",
    (count) => this.#repeat(this.#store.state, count),
  );
  readonly #chooser: Chooser;
  /** Those who wait for runs: the Worker answers in order. */
  #waiting: ((runs: readonly Run[]) => void)[] = [];
  #explanation = "";
  #job: Job<ToStream> | undefined;
  #frame: Frame | undefined;
  #faint: Float64Array[] = [];
  /** The Worker is publishing again; the newest settings follow when it is done. */
  #publishing = false;
  #stale = false;
  #asked = 0;
  /** How far the answer that is shown reaches. */
  #answered = 0;
  /** Values in a block. */
  #block = 1;
  /** How far the stream was when four methods were last asked for; 0 while it runs. */
  #compared = 0;

  constructor(store: Store<State>, choice: DataChoice) {
    this.#store = store;
    this.#choice = choice;
    this.#describe = new Describer(store);
    this.#timeline = new TimelineView(store);
    this.#chooser = new Chooser(store, async (epsilon, range) => (await this.#repeat(range, 1, epsilon))[0]);
    this.#chart = streamChart(byId("chart"), {
      words: wordsOf(exampleMeaning),
      from: 0,
      to: 1,
      onSelect: (from, to) => store.set(snapped(from, to, store.state.holdout, this.#block, this.#total)),
      onZoom: (factor, around) => this.#zoom(factor, around),
      onCursor: (column) =>
        this.#frame && this.#announce(columnInWords(this.#frame.lines, column, this.#meaning)),
    });
    this.#overview = new Overview(byId("overview"), (from, to) =>
      this.#show(from * this.#total, to * this.#total),
    );
    this.#listen();
    this.#start();
    choice.subscribe((data) => this.#load(data));
    store.subscribe((state, before) => this.#follow(state, before));
  }

  /** Lays mist over the truth, or lifts it. */
  fog(fogged: boolean): void {
    for (const view of [this.#multiples, this.#timeline]) view.fog(fogged);
    this.#chart.change({ fogged });
  }

  get code(): string {
    return codeOf(this.#store.state);
  }

  get picture(): PictureOptions | undefined {
    return (
      this.#frame && {
        title: `${this.#choice.data!.name}, averages over ${span(this.#frame.averaged, this.#meaning)}, ε = ${this.#store.state.epsilon}`,
        words: wordsOf(this.#meaning),
        ...this.#part,
        holdout: this.#store.state.holdout,
        lines: this.#frame.lines,
      }
    );
  }

  /** Everything published so far. */
  saveCsv(): void {
    this.#tell({ type: "export" });
  }

  get #total(): number {
    return this.#choice.data?.total ?? 1;
  }
  get #meaning() {
    return this.#choice.data?.meaning ?? exampleMeaning;
  }

  /** The range of positions that the plot shows. */
  get #part(): Part {
    return shownPart(this.#store.state, this.#total);
  }

  #start(): void {
    for (const hear of this.#waiting.splice(0)) hear([]);
    this.#job = startJob<ToStream, FromStream>(
      () => new Worker(new URL("../workers/stream.ts", import.meta.url), { type: "module" }),
      (message) => this.#hear(message),
      () => {
        byId("chart").before(
          failureNote(() => {
            this.#start();
            this.#load(this.#choice.data);
          }),
        );
      },
    );
  }

  #load(data: Data | undefined): void {
    this.#frame = undefined;
    this.#faint = [];
    this.#publishing = false;
    this.#answered = 0;
    this.#chart.show(undefined);
    this.#overview.show(undefined, 1);
    this.#describe.clear();
    this.#clearAnswer();
    this.#tell({ type: "play", speed: 0 });
    this.#wantBeside();
    if (data === undefined) return;
    const { state } = this.#store;
    this.#frameView();
    this.#tell({ type: "load", source: data.source });
    this.#publish();
    this.#tell({ type: "view", part: this.#part });
    this.#tell({ type: "seek", at: startOf(state, this.#total) });
    this.#tell({ type: "play", speed: this.#speed() });
    this.#ask();
    this.#describe.all(this.#meaning, state, undefined);
  }

  #speed(): number {
    const { at, speed } = this.#store.state;
    return at > 0 || document.hidden ? 0 : speed;
  }

  #follow(state: State, before: State): void {
    const changed = (...keys: (keyof State)[]) => keys.some((key) => state[key] !== before[key]);
    if (this.#choice.data === undefined || changed("file")) return;
    if (changed(...RELEASE_KEYS, "window")) this.#publish();
    if (changed("holdout", "left", "right")) {
      this.#frameView();
      this.#tell({ type: "view", part: this.#part });
    }
    if (changed("at") && state.at > 0 && state.at !== this.#frame?.at)
      this.#tell({ type: "seek", at: state.at });
    if (changed("speed", "at")) this.#tell({ type: "play", speed: this.#speed() });
    if (changed("from", "to")) {
      this.#chart.select(state.from, state.to);
      this.#clearAnswer();
      this.#ask();
      this.#timeline.want(this.#wanted);
      this.#wantErrors();
    }
    this.#describe.all(this.#meaning, state, this.#frame);
    if (changed(...RELEASE_KEYS, "window", "left", "right", "at")) this.#wantBeside();
  }

  #frameView(): void {
    const { state } = this.#store;
    const { from, to } = this.#part;
    this.#faint = [];
    this.#chart.change({ words: wordsOf(this.#meaning), from, to, holdout: state.holdout });
    this.#chart.select(state.from, state.to);
    this.#overview.place(from / this.#total, to / this.#total);
    byId("whole").hidden = to - from === this.#total;
  }

  #show(left: number, right: number): void {
    const [from, to] = [Math.max(0, Math.round(left)), Math.min(Math.round(right), this.#total)];
    this.#store.set(from === 0 && to === this.#total ? { left: 0, right: 0 } : { left: from, right: to });
  }

  #zoom(factor: number, around: number): boolean {
    const part = zoomed(this.#part, factor, around, this.#total);
    if (part !== undefined) this.#show(part.from, part.to);
    return part !== undefined;
  }

  /** One release at a time: while the Worker is busy, only the newest settings wait. */
  #publish(): void {
    this.#clearAnswer();
    this.#faint = [];
    this.#stale = this.#publishing;
    if (this.#publishing) return;
    this.#publishing = true;
    const { state } = this.#store;
    this.#tell({ type: "publish", settings: releaseSettings(state), window: state.window });
  }

  #hear(message: FromStream): void {
    switch (message.type) {
      case "frame":
        return this.#take(message);
      case "account":
        byId("account").replaceChildren(...accountView(message.account, message.explanation, this.#meaning));
        this.#block = message.account.blockLength;
        this.#explanation = message.explanation;
        byId("core-note").textContent = coreNote(message.account);
        return this.#describe.account(message.account, this.#meaning);
      case "paused":
        return this.#store.set({ at: Math.max(1, message.at) });
      case "published":
        byId("release-error").textContent = message.problem;
        this.#publishing = false;
        if (this.#stale) this.#publish();
        else this.#ask();
        return this.#wantBeside();
      case "answer":
      case "no answer": {
        const { from, to } = this.#store.state;
        if (message.asked.from !== from || message.asked.to !== to || this.#publishing) return;
        const box = byId("answer");
        this.#answered = message.type === "answer" ? message.to : 0;
        this.#runs.allow(message.type === "answer");
        box.replaceChildren(...answerView(message, this.#meaning, box.clientWidth));
        return this.#announce(box.firstElementChild?.textContent ?? "");
      }
      case "again":
        this.#faint.push(message.line);
        byId<HTMLButtonElement>("again").disabled = message.left > 0;
        return this.#chart.show(this.#frame?.lines, this.#faint);
      case "runs":
        return this.#waiting.shift()?.(message.runs);
      case "exported":
        return saveCsv(message.file);
    }
  }

  #take(frame: Frame): void {
    if (this.#choice.data === undefined) return;
    this.#frame = frame;
    const fits = this.#faint[0]?.length === frame.lines.x.length;
    this.#chart.show(frame.lines, fits ? this.#faint : []);
    this.#overview.show(frame.overview, frame.total);
    this.#describe.frame(frame, this.#meaning);
    const { from, to } = this.#store.state;
    // The last frame asks at once: no later one would.
    const behind = this.#answered < Math.min(to, frame.at) || frame.at < this.#answered;
    const ended = frame.at >= frame.total;
    if (from < to && behind && (ended || performance.now() - this.#asked > ASK_AGAIN)) this.#ask();
    if (ended) this.#describe.all(this.#meaning, this.#store.state, frame);
    if (frame.at !== this.#compared) this.#wantBeside();
  }

  #ask(): void {
    const { from, to } = this.#store.state;
    this.#asked = performance.now();
    if (from < to) this.#tell({ type: "ask", from, to });
  }

  #repeat({ from, to }: Part, count: number, epsilon?: number): Promise<readonly Run[]> {
    this.#tell({
      ...{ type: "runs", range: { from, to }, count },
      ...(epsilon === undefined ? {} : { epsilon }),
    });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #clearAnswer(): void {
    const { from, to } = this.#store.state;
    this.#runs.reset();
    this.#runs.allow(false);
    this.#answered = 0;
    byId("answer").replaceChildren(from < to ? waitingAnswer() : emptyAnswer());
  }

  /** Data and settings that the small charts and percentiles are drawn from; undefined while a stream runs, which would redraw for ever. */
  get #wanted(): Wanted | undefined {
    const { state } = this.#store;
    const at = this.#frame?.at ?? 0;
    const { data } = this.#choice;
    if (data === undefined || at === 0 || (state.at === 0 && at < data.total)) return undefined;
    return { data, settings: releaseSettings(state), window: state.window, at, part: this.#part };
  }

  #wantBeside(): void {
    const wanted = this.#wanted;
    if (wanted === undefined && this.#compared === 0) return;
    this.#compared = wanted?.at ?? 0;
    for (const view of [this.#multiples, this.#timeline]) view.want(wanted);
    this.#wantErrors();
  }

  /** Errors are told for the range that is asked for, or for all that is published. */
  #wantErrors(): void {
    const { epsilon: _, ...settings } = releaseSettings(this.#store.state);
    const { from, to, holdout } = this.#store.state;
    const { at = 0, data } = this.#wanted ?? {};
    const range =
      from < to ? { from: Math.max(from, holdout), to: Math.min(to, at) } : { from: holdout, to: at };
    const about = JSON.stringify([settings, data?.name]);
    this.#chooser.want(range.from < range.to ? range : undefined, about);
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
      this.#tell({ type: "play", speed: this.#speed() });
    });
    click("again", () => {
      this.#faint = [];
      byId<HTMLButtonElement>("again").disabled = true;
      this.#tell({ type: "again", releases: RELEASES });
    });
    click("choose-export", () => void this.#chooser.export(this.#meaning, this.#explanation));
    click("whole", () => this.#store.set({ left: 0, right: 0 }));
    click("ask-all", () => this.#store.set({ from: this.#store.state.holdout, to: this.#total }));
    document.addEventListener("visibilitychange", () => this.#tell({ type: "play", speed: this.#speed() }));
  }

  #tell(message: ToStream): void {
    this.#job?.tell(message);
  }
}
