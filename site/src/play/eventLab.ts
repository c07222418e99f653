/** The lab for events: a log and its private release, side by side as it happens. */
import type { Lines } from "../charts/lines.js";
import type { PictureOptions } from "../charts/picture.js";
import { type StreamChart, streamChart } from "../charts/streamChart.js";
import type { LogData } from "../data/logData.js";
import { exampleMeaning, wordsOf } from "../data/meaning.js";
import { announcer } from "../look/announce.js";
import { Coverage, type Run } from "../look/coverage.js";
import { byId, download, h } from "../look/dom.js";
import { count } from "../look/format.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import type { Store } from "../look/state.js";
import { type LogSettings, QUESTIONS, type Span } from "../workers/logPlayer.js";
import type { FromLog, LogFrame, Part, ToLog } from "../workers/protocol.js";
import type { DataChoice } from "./dataChoice.js";
import { logLegend } from "./describe.js";
import { LogCards, type Unit } from "./logCards.js";
import { bestLimit, limitsTable, logCode, logStatement, promiseOf, promiseTable } from "./logWords.js";
import { shownPart, zoomed } from "./places.js";
import { saveCsv } from "./share.js";
import { LOG_KEYS, logSettings, type State } from "./state.js";
import { MINUTE, ZoneWords } from "./zoneWords.js";

type Published = Extract<FromLog, { type: "published" }>;

/** Minutes from which on a day needs its year. */
const YEAR = 300 * 1440;
/** The share of a log that is through when the page opens. */
const SHOWN = 0.3;

export class EventLab {
  readonly #store: Store<State>;
  readonly #choice: DataChoice;
  readonly #cards = new LogCards();
  readonly #announce = announcer(byId("log-announce"));
  readonly #runs = new Coverage(
    byId("log-runs"),
    "The interval that is chosen, with fresh noise each time; the truth is that of the events that count",
    (count) => this.#repeat(count),
  );
  /** Made when events are first shown. */
  #chart: StreamChart | undefined;
  #fogged = false;
  #job: Job<{ readonly log: ToLog }> | undefined;
  #hearRuns: (runs: readonly Run[]) => void = () => undefined;
  #published: Published | undefined;
  #frame: LogFrame | undefined;
  #words = new ZoneWords("UTC", false);
  /** Settings that the labels of the plot were made for, as JSON. */
  #worded = "";
  /** The Worker is publishing again; the newest settings follow when it is done. */
  #publishing = false;
  #stale = false;
  #refused = false;
  /** The end of the day that was announced last. */
  #day = NaN;
  /** Rows that the table of limits shows, as JSON. */
  #listed = "";

  constructor(store: Store<State>, choice: DataChoice) {
    this.#store = store;
    this.#choice = choice;
    byId("log-legend").replaceChildren(...logLegend());
    this.#listen();
    choice.subscribe(() => this.#load(choice.log));
    store.subscribe((state, before) => this.#follow(state, before));
  }

  fog(fogged: boolean): void {
    this.#fogged = fogged;
    this.#chart?.change({ fogged });
  }

  get code(): string {
    return logCode(this.#settings);
  }

  get picture(): PictureOptions | undefined {
    const { log } = this.#choice;
    if (this.#frame === undefined || log === undefined) return undefined;
    return {
      title: `${log.name}, by ${this.#frame.period}, ε = ${this.#settings.epsilon}`,
      words: this.#plotWords(),
      ...this.#part,
      holdout: 0,
      lines: this.#lines(this.#frame),
    };
  }

  /** The published numbers of the plot. */
  saveCsv(): void {
    const rows = (this.#frame?.columns ?? []).flatMap(({ from, to, value, low, high }) =>
      value === undefined
        ? []
        : [[new Date(from).toISOString(), new Date(to).toISOString(), value, low, high].join(",")],
    );
    saveCsv(new Blob([["from,to,private,low,high", ...rows, ""].join("\n")], { type: "text/csv" }));
  }

  get #settings(): LogSettings {
    return logSettings(this.#store.state, this.#choice.log ?? { people: false, values: false });
  }

  /** Minutes of the whole log. */
  get #total(): number {
    const days = this.#published?.days;
    return days === undefined ? 1 : (days.at(-1)!.to - days[0]!.from) / MINUTE;
  }
  get #start(): number {
    return this.#published?.days[0]!.from ?? 0;
  }
  get #part(): Part {
    return shownPart(this.#store.state, this.#total);
  }

  get #unit(): Unit {
    const { of, limit } = this.#settings;
    const { events = "events", unit = "" } = this.#choice.log ?? {};
    return { name: of === "sum" ? unit : events, whole: of === "count", limited: limit !== undefined };
  }

  #load(data: LogData | undefined): void {
    this.#frame = this.#published = undefined;
    this.#publishing = false;
    this.#day = NaN;
    this.#chart?.show(undefined);
    this.#clearCards();
    this.#tell({ type: "play", speed: 0 });
    if (data === undefined) return;
    if (this.#job === undefined) this.#begin();
    const { at } = this.#store.state;
    this.#tell({ type: "load", source: data.source });
    this.#publish();
    this.#view();
    if (at > 0) this.#tell({ type: "seek", at });
    else this.#tell({ type: "seek share", share: isStill() ? 1 : SHOWN });
    this.#tell({ type: "play", speed: this.#speed() });
    this.#describe();
  }

  #begin(): void {
    this.#job = startJob<{ readonly log: ToLog }, FromLog>(
      () => new Worker(new URL("../workers/events.ts", import.meta.url), { type: "module" }),
      (message) => this.#hear(message),
      () => {
        this.#job = undefined;
        byId("log-chart").before(failureNote(() => this.#load(this.#choice.log)));
      },
    );
  }

  #speed(): number {
    const { at, tempo } = this.#store.state;
    return at > 0 || document.hidden ? 0 : tempo;
  }

  #follow(state: State, before: State): void {
    const changed = (...keys: (keyof State)[]) => keys.some((key) => state[key] !== before[key]);
    if (this.#choice.log === undefined || changed("file", "as")) return;
    if (changed(...LOG_KEYS)) this.#publish();
    if (changed("zone") && state.from < state.to) return this.#store.set({ from: 0, to: 0 }); // other midnights
    if (changed("period", "from", "to")) this.#view();
    if (changed("from", "to", "question")) this.#resetRuns();
    if (changed("left", "right")) this.#frameView();
    if (changed("at") && state.at > 0) this.#tell({ type: "seek", at: state.at });
    if (changed("tempo", "at")) this.#tell({ type: "play", speed: this.#speed() });
    this.#describe();
  }

  /** One release at a time: while the Worker is busy, only the newest settings wait. */
  #publish(): void {
    this.#resetRuns();
    this.#stale = this.#publishing;
    if (this.#publishing) return;
    this.#publishing = true;
    this.#tell({ type: "publish", settings: this.#settings });
  }

  #view(): void {
    const { period, from, to } = this.#store.state;
    this.#chart?.select(from, to);
    this.#tell({ type: "view", period, range: from < to ? { from, to } : undefined });
  }

  #hear(message: FromLog): void {
    if (this.#choice.log === undefined) return;
    switch (message.type) {
      case "log frame":
        return this.#take(message);
      case "published":
        byId("log-error").textContent = "";
        this.#refused = false;
        this.#published = message;
        this.#frameView();
        this.#describeRelease(message);
        return this.#done();
      case "refused":
        byId("log-error").textContent = message.problem;
        this.#refused = true;
        this.#frame = undefined;
        this.#chart?.show(undefined);
        this.#clearCards();
        return this.#done();
      case "paused":
        return this.#store.set({ at: Math.max(1, message.at) });
      case "runs":
        return this.#hearRuns(message.runs);
    }
  }

  #done(): void {
    this.#publishing = false;
    if (this.#stale) this.#publish();
  }

  #take(frame: LogFrame): void {
    if (this.#publishing || this.#refused) return; // it belongs to former settings
    this.#frame = frame;
    this.#chart?.show(this.#lines(frame));
    for (const question of QUESTIONS) {
      const answer = frame.answers[question];
      this.#cards.show(question, answer, answer === undefined ? "" : this.#words.span(answer), this.#unit);
    }
    this.#allowRuns();
    this.#describeFrame(frame);
  }

  #describeFrame({ at, end, period, why, columns, answers }: LogFrame): void {
    const known = columns.filter(({ value }) => value !== undefined).length;
    byId("log-note").textContent =
      `${count(known)} numbers by ${PERIODS[period] ?? period}${why === undefined ? "" : ` (${why})`}. ` +
      (at < end
        ? `The log is at ${this.#words.day(at)}, ${this.#words.time(at)}.`
        : "The log has ended: all of it is published.");
    const play = byId<HTMLButtonElement>("log-play");
    play.disabled = at >= end;
    play.textContent = at >= end ? "Ended" : this.#store.state.at > 0 ? "Play" : "Pause";
    const { day } = answers;
    if (day === undefined || day.to === this.#day) return;
    this.#day = day.to;
    this.#announce(byId("card-day").innerText);
  }

  #allowRuns(): void {
    this.#runs.allow(this.#frame?.answers[this.#store.state.question]?.value !== undefined);
  }

  #resetRuns(): void {
    this.#runs.reset();
    this.#allowRuns();
  }

  #repeat(count: number): Promise<readonly Run[]> {
    this.#tell({ type: "runs", question: this.#store.state.question, count });
    return new Promise((resolve) => (this.#hearRuns = resolve));
  }

  #clearCards(): void {
    for (const question of QUESTIONS) this.#cards.clear(question);
    this.#runs.reset();
    this.#runs.allow(false);
  }

  /** Days, words and ends of the plot. */
  #frameView(): void {
    const { from, to } = this.#part;
    const { state } = this.#store;
    const view = { words: this.#plotWords(), from, to, fogged: this.#fogged };
    if (this.#chart === undefined)
      this.#chart = streamChart(byId("log-chart"), {
        ...view,
        onSelect: (from, to) => this.#store.set(this.#snapped(from, to)),
        onZoom: (factor, around) => this.#zoom(factor, around),
        onCursor: (column) => this.#say(column),
      });
    else this.#chart.change(view);
    this.#chart.select(state.from, state.to);
    byId("log-whole").hidden = to - from === this.#total;
  }

  #plotWords() {
    const { name } = this.#unit;
    const { zone } = this.#settings;
    const about = JSON.stringify([this.#start, this.#total, zone, name]);
    if (this.#worded !== about) {
      this.#worded = about;
      this.#words = new ZoneWords(zone, this.#total > YEAR);
      this.#plotted = this.#words.plot(this.#start, name, (time) =>
        this.#frame?.columns.find(({ from, to }) => from <= time && time < to),
      );
      this.#fillDays();
    }
    return this.#plotted;
  }
  #plotted = wordsOf(exampleMeaning);

  /** Two lists of days, for those who mark a range without a plot. */
  #fillDays(): void {
    const days = this.#published?.days ?? [];
    const options = (position: (day: Span) => number) => [
      h("option", { value: "" }, "…"),
      ...days.map((day) =>
        h("option", { value: String((position(day) - this.#start) / MINUTE) }, this.#words.day(day.from)),
      ),
    ];
    byId("log-from").replaceChildren(...options(({ from }) => from));
    byId("log-to").replaceChildren(...options(({ to }) => to));
    this.#showRange();
  }

  #showRange(): void {
    const { from, to } = this.#store.state;
    const show = (id: string, position: number) =>
      (byId<HTMLSelectElement>(id).value = from < to ? String(position) : "");
    show("log-from", from);
    show("log-to", to);
  }

  /** Whole periods: part of one has no number. */
  #snapped(from: number, to: number): Part {
    if (from >= to) return { from: 0, to: 0 };
    const columns = this.#frame?.columns ?? [];
    const minutes = (time: number) => (time - this.#start) / MINUTE;
    const touched = columns.filter((column) => minutes(column.to) > from && minutes(column.from) < to);
    if (touched.length === 0) return { from, to };
    return { from: minutes(touched[0]!.from), to: minutes(touched.at(-1)!.to) };
  }

  #zoom(factor: number, around: number): boolean {
    const part = zoomed(this.#part, factor, around, this.#total);
    if (part === undefined) return false;
    const whole = part.from === 0 && part.to === this.#total;
    this.#store.set(whole ? { left: 0, right: 0 } : { left: part.from, right: part.to });
    return true;
  }

  #say(column: number): void {
    const found = this.#frame?.columns[column];
    if (found === undefined) return;
    const value = (x: number | undefined) => (x === undefined ? "none" : count(Math.max(0, x)));
    this.#announce(
      `${this.#words.span(found)}: private ${value(found.value)}${this.#fogged ? "" : `, secret ${value(found.truth)}`}`,
    );
  }

  #lines({ columns }: LogFrame): Lines {
    const { limited } = this.#unit;
    const line = (read: (column: (typeof columns)[number]) => number | undefined) =>
      Float64Array.from(columns, (column) => read(column) ?? NaN);
    const known = (read: (column: (typeof columns)[number]) => number) =>
      line((column) => (column.value === undefined ? undefined : Math.max(0, read(column))));
    return {
      x: line(({ from, to }) => ((from + to) / 2 - this.#start) / MINUTE),
      secret: line(({ truth }) => truth),
      ...(limited ? { uncounted: line(({ all }) => all) } : {}),
      private: known(({ value }) => value!),
      low: known(({ low }) => low),
      high: known(({ high }) => high),
    };
  }

  /** Everything beside the fields that follows from the settings. */
  #describe(): void {
    const { state } = this.#store;
    const { people = false, values = false, events = "events", unit = "" } = this.#choice.log ?? {};
    const { limit, of, zone } = this.#settings;
    const limited = limit !== undefined;
    byId("log-protect").hidden = byId("log-limits").hidden = !people;
    byId("log-limit").hidden = !limited;
    byId("log-of").hidden = !values;
    byId("log-bound").hidden = of !== "sum";
    byId("of-sum").textContent = unit === "" ? "their sum" : `${unit} in sum`;
    byId("log-epsilon-label").textContent = limited ? "ε for one person and day" : "ε for one event";
    this.#cards.offer("limited", limited);
    const shown = `Smaller ε: more private, more noise.${state.zone === "" ? ` Days and hours are those of ${zone}, this browser’s zone.` : ""}`;
    byId("log-hint").textContent =
      state.every === "1d" || limited || people
        ? shown
        : `${shown} No column tells whose ${events} these are: one event is protected, not a person.`;
    byId("log-about").textContent = limited
      ? `The 95 % intervals are about the ${events} that count: the first ${limit} of a person and day. What the limit leaves out is in no published number. “Truth” is only on this computer.`
      : `The 95 % intervals are about all ${events}. “Truth” is only on this computer.`;
    const { lead, rows, note } = promiseOf(this.#settings, people);
    byId("log-person").textContent = lead;
    byId("log-person-table").replaceChildren(promiseTable(rows));
    byId("log-person-note").textContent = note;
    if (this.#published !== undefined) this.#showLimits(this.#published);
    this.#showRange();
  }

  #describeRelease(published: Published): void {
    byId("log-explained").textContent = published.explanation;
    const best = bestLimit(published.limits);
    const { log } = this.#choice;
    if (log !== undefined && this.#choice.takeFit() && best !== undefined) this.#store.set({ limit: best });
    this.#describe();
  }

  /** The table is made anew only if its figures change, so that a button that was pressed keeps its focus. */
  #showLimits({ limits }: Published): void {
    const place = byId("log-limits-table");
    const listed = JSON.stringify(limits);
    if (listed !== this.#listed)
      place.replaceChildren(limitsTable(limits, (limit) => this.#store.set({ limit, protect: "person" })));
    this.#listed = listed;
    const current = String(this.#settings.limit ?? "");
    for (const row of place.querySelectorAll<HTMLElement>("tr[data-limit]"))
      if (row.dataset["limit"] === current) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
  }

  #listen(): void {
    const click = (id: string, action: () => void) => byId(id).addEventListener("click", action);
    click("log-play", () => {
      if (this.#store.state.at > 0) this.#store.set({ at: 0 });
      else this.#tell({ type: "pause" });
    });
    click("log-restart", () => {
      this.#day = NaN;
      this.#tell({ type: "seek", at: 0 });
      this.#store.set({ at: 0 });
      this.#tell({ type: "play", speed: this.#speed() });
    });
    click("log-whole", () => this.#store.set({ left: 0, right: 0 }));
    click("log-export", () => {
      const people = this.#choice.log?.people === true;
      const text = logStatement(this.#settings, people, byId("log-explained").textContent);
      download("privacy-statement.txt", new Blob([text], { type: "text/plain" }));
    });
    for (const id of ["log-from", "log-to"])
      byId(id).addEventListener("change", () => {
        const [from, to] = ["log-from", "log-to"].map((end) => byId<HTMLSelectElement>(end).value) as [
          string,
          string,
        ];
        if (from === "" && to === "") return this.#store.set({ from: 0, to: 0 });
        if (from !== "" && to !== "" && Number(from) < Number(to))
          this.#store.set({ from: Number(from), to: Number(to) });
      });
    document.addEventListener("visibilitychange", () => this.#tell({ type: "play", speed: this.#speed() }));
  }

  #tell(log: ToLog): void {
    this.#job?.tell({ log });
  }
}

const PERIODS: Readonly<Record<string, string>> = {
  ...{ "5m": "5 minutes", "15m": "15 minutes", "1h": "hour", "1d": "day", "1w": "week" },
};

/** Those who want no motion see the end at once. */
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
