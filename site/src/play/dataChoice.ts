/**
 * Opens files, remembers the last one, and never shows one stream under another's name. Files with people are not stored:
 * they last as long as the page.
 */
import { unitOf } from "../data/cells.js";
import { type Data, exampleData, ownData } from "../data/chosen.js";
import { fitting, roundedUp, suggestedEpsilon } from "../data/fitting.js";
import { exampleLog, type LogData } from "../data/logData.js";
import type { LogColumns, Read, ReadLog } from "../data/read.js";
import type { Column, FileShape } from "../data/shape.js";
import { forgetStream, storedStream, storeStream } from "../data/stored.js";
import { byId } from "../look/dom.js";
import { count } from "../look/format.js";
import { type Job, startJob } from "../look/job.js";
import type { Store } from "../look/state.js";
import type { FromFile, ToFile } from "../workers/protocol.js";
import { Preview, problemOf } from "./preview.js";
import type { State } from "./state.js";

const LEAST_VALUES = 64;
/** 30 years. */
const MOST_DAYS = 30 * 365;

export class DataChoice {
  readonly #store: Store<State>;
  readonly #listeners: ((data: Data | undefined) => void)[] = [];
  readonly #preview = new Preview({
    values: (column, time) => this.#read(column, time),
    events: (columns) => this.#readLog(columns),
    cancel: () => this.#status(""),
  });
  #job: Job<ToFile> | undefined;
  #fileName = "";
  #shape: FileShape | undefined;
  #column: Column | undefined;
  #columns: LogColumns | undefined;
  #data: Data | undefined;
  #log: LogData | undefined;
  /** The events of the file that was opened last. */
  #kept: LogData | undefined;
  /** The limit is to be fitted to the file that was just opened. */
  #toFit = false;

  constructor(store: Store<State>) {
    this.#store = store;
    this.#listen();
    store.subscribe((state, before) => {
      const id = this.#data?.id ?? this.#log?.id;
      if (state.file !== before.file && state.file !== id) void this.begin();
      else if (state.file === "" && state.as !== before.as) this.#switchExample();
      else if (state.file === "" && state.as === "values" && state.seed !== before.seed)
        this.#use(exampleData(state.seed));
    });
  }

  /** Values; undefined while a file is missing or still being read, and while events are shown. */
  get data(): Data | undefined {
    return this.#data;
  }

  /** Events; undefined while there are none, and while values are shown. */
  get log(): LogData | undefined {
    return this.#log;
  }

  /** Whether the limit is to be fitted to a new file; once for each. */
  takeFit(): boolean {
    const fits = this.#toFit;
    this.#toFit = false;
    return fits;
  }

  subscribe(listener: (data: Data | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** The stream that the address names. */
  async begin(): Promise<void> {
    const { file, seed, as } = this.#store.state;
    if (as === "events") {
      const log = file === "" ? exampleLog : this.#kept?.id === file ? this.#kept : undefined;
      this.#use(undefined, log);
      if (log === undefined)
        byId("data-error").textContent =
          "This link was made with a file of events. Such files are never stored: open it again, or go back to the example.";
      return;
    }
    if (file === "") return this.#use(exampleData(seed));
    this.#use(undefined);
    const stored = await storedStream(file);
    if (stored !== undefined) {
      this.#status(stored.notes.join(" "));
      return this.#use(ownData(stored));
    }
    byId("data-error").textContent =
      "This link was made with a file that this browser does not have. Open that file, or go back to the example.";
  }

  open(file: File): void {
    this.#job?.stop();
    this.#fileName = file.name;
    this.#preview.hide();
    byId("data-error").textContent = "";
    this.#status(`Looking at ${file.name}…`);
    this.#job = startJob<ToFile, FromFile>(
      () => new Worker(new URL("../workers/file.ts", import.meta.url), { type: "module" }),
      (message) => this.#hear(message),
      () => this.#fail("The file could not be read. Try it again."),
    );
    this.#job.tell({ type: "open", file });
  }

  #hear(message: FromFile): void {
    switch (message.type) {
      case "shape":
        this.#shape = message.shape;
        this.#status("");
        return this.#preview.show(this.#fileName, message.shape);
      case "progress":
        return this.#status(`Reading ${this.#fileName}: ${Math.round(100 * message.share)} %`);
      case "failed":
        return this.#fail(message.message);
      case "values":
        return this.#take(message.read);
      case "log":
        return this.#takeLog(message.read);
    }
  }

  #read(column: Column, time: Column | undefined): void {
    this.#column = column;
    byId("data-error").textContent = "";
    this.#status(`Reading ${this.#fileName}…`);
    this.#job!.tell({ type: "read", column, time });
  }

  #readLog(columns: LogColumns): void {
    this.#columns = columns;
    byId("data-error").textContent = "";
    this.#status(`Reading ${this.#fileName}…`);
    this.#job!.tell({ type: "read log", columns });
  }

  #takeLog(read: ReadLog): void {
    const { log, largest, people, zoned } = read;
    const { person, value, time } = this.#columns!;
    const { times } = log;
    if (times.length < LEAST_VALUES)
      return this.#fail(
        `${count(times.length)} events found, at least ${LEAST_VALUES} are needed for a log.`,
      );
    const days = (times.at(-1)! - times[0]!) / 86_400_000;
    if (days > MOST_DAYS)
      return this.#fail(
        `The times of “${time.name}” span ${count(days / 365)} years, and the lab takes at most ${count(MOST_DAYS / 365)}. Choose another column of times.`,
      );
    this.#kept = {
      id: randomId(),
      name: this.#fileName,
      source: { kind: "log", log },
      people: person !== undefined,
      values: value !== undefined,
      events: "events",
      unit: value === undefined ? "" : unitOf(value.name),
    };
    this.#toFit = person !== undefined;
    this.#preview.hide();
    this.#status(
      [
        `Times: “${time.name}”.`,
        person === undefined
          ? "People: none, so one event is protected and not a person."
          : `People: “${person.name}”, ${count(people)} of them.`,
        ...logNotes(read),
        ...(zoned ? [] : ["The times have no zone: they are taken as they stand, with UTC."]),
      ].join(" "),
    );
    const fresh = Object.fromEntries(
      [...PLACES, ...(["protect", "limit", "of", "levels", "period", "question"] as const)].map((key) => [
        key,
        this.#store.fields[key].initial,
      ]),
    ) as Partial<State>;
    this.#log = this.#kept;
    this.#data = undefined;
    this.#store.set({
      ...fresh,
      as: "events",
      file: this.#kept.id,
      every: days <= 4 ? "15m" : days <= 120 ? "1h" : "1d",
      tempo: days <= 4 ? 360 : days <= 40 ? 1440 : 10_080,
      zone: zoned ? "" : "UTC",
      ...(value === undefined ? {} : { bound: Math.min(1e9, roundedUp(largest)) }),
    });
    this.#use(undefined, this.#kept);
  }

  #take(read: Read): void {
    const { values, largest, start, pace } = read;
    const column = this.#column!;
    if (values.length < LEAST_VALUES)
      return this.#fail(
        `${count(values.length)} values found, at least ${LEAST_VALUES} are needed for a stream.`,
      );
    const problem = problemOf(column, largest);
    if (problem !== undefined) return this.#fail(problem);
    const max = roundedUp(largest);
    const epsilon = suggestedEpsilon(values.length, max);
    const notes = [
      ...notesOf(read),
      ...peopleNotes(this.#shape!),
      `ε = ${epsilon} is suggested for ${count(values.length)} values.`,
    ];
    const unit = unitOf(column.name);
    const meaning = {
      unit,
      sumUnit: unit,
      pace,
      ...(start === undefined ? {} : { start }),
    };
    const id = randomId();
    const stream = { id, name: this.#fileName, values, meaning, notes };
    this.#preview.hide();
    this.#status(notes.join(" "));
    void storeStream(stream);
    this.#data = ownData(stream);
    this.#log = undefined;
    const none = { from: 0, to: 0, at: 0, left: 0, right: 0 };
    this.#store.set({ ...fitting(values.length), max, epsilon, ...none, as: "values", file: id });
    this.#use(this.#data);
  }

  /** The message stands; the stream shown before goes on. */
  #fail(message: string): void {
    this.#status("");
    byId("data-error").textContent = `${this.#fileName}: ${message}`;
  }

  #backToExample(): void {
    this.#job?.stop();
    this.#shape = this.#kept = undefined;
    this.#preview.hide();
    byId("data-error").textContent = "";
    this.#status("");
    void forgetStream();
    const { fields, state } = this.#store;
    const keys = ["epsilon", "max", "holdout", "maxRange", "window", "speed"] as const;
    const ofEvents = ["limit", "of", "bound", "every", "levels", "zone", "tempo", "period"] as const;
    [this.#data, this.#log] =
      state.as === "events" ? [undefined, exampleLog] : [exampleData(state.seed), undefined];
    const initial = [...keys, ...ofEvents, ...PLACES].map((key) => [key, fields[key].initial]);
    this.#store.set({ ...(Object.fromEntries(initial) as Partial<State>), file: "" });
    this.#use(this.#data, this.#log);
  }

  /** The other example. Places of the one mean nothing in the other. */
  #switchExample(): void {
    const { fields } = this.#store;
    this.#use(undefined);
    this.#store.set(Object.fromEntries(PLACES.map((key) => [key, fields[key].initial])));
    void this.begin();
  }

  #use(data: Data | undefined, log?: LogData): void {
    this.#data = data;
    this.#log = log;
    const { file, as } = this.#store.state;
    byId("main").dataset["as"] = as;
    byId("data-name").textContent = data?.name ?? log?.name ?? "";
    const events = log?.source.kind === "log" ? `${count(log.source.log.times.length)} events` : "";
    byId("data-size").textContent = data === undefined ? events : `${count(data.total)} values`;
    byId("use-example").hidden = file === "";
    byId("example-choice").hidden = file !== "";
    byId("change-columns").hidden = file === "" || this.#shape === undefined;
    for (const listener of this.#listeners) listener(data);
  }

  #listen(): void {
    const input = byId<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      if (input.files?.[0]) this.open(input.files[0]);
      input.value = "";
    });
    byId("use-example").addEventListener("click", () => this.#backToExample());
    byId("change-columns").addEventListener("click", () => {
      this.#preview.show(this.#fileName, this.#shape!);
      byId("preview").scrollIntoView({ block: "nearest" });
      byId("time-column").focus();
    });
    const shade = byId("drop-here");
    addEventListener("dragover", (event) => {
      event.preventDefault();
      shade.hidden = !event.dataTransfer?.types.includes("Files");
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) shade.hidden = true;
    });
    addEventListener("drop", (event) => {
      event.preventDefault();
      shade.hidden = true;
      const file = event.dataTransfer?.files[0];
      if (file) this.open(file);
    });
  }

  #status(text: string): void {
    byId("data-status").textContent = text;
  }
}

/** Fields of the state that are places in a stream. */
const PLACES = ["from", "to", "at", "left", "right"] as const;

/** A random word: it tells nothing of the file. */
const randomId = (): string =>
  crypto.getRandomValues(new Uint32Array(2)).reduce((text, n) => text + n.toString(36), "");

const logNotes = ({ log, skipped, negative, cut }: ReadLog): string[] => [
  ...(skipped > 0
    ? [`${count(skipped)} rows without a time, a person or a number in these columns were left out.`]
    : []),
  ...(negative > 0 ? [`${count(negative)} values are below 0 and are clamped to 0 here.`] : []),
  ...(cut ? [`Only the first ${count(log.times.length)} events are used.`] : []),
  "Bound and limit were set from the file; in real use you must know them without looking at the data.",
];

/** Notes on how the file was read: rows left out, values clamped, values cut off. */
function notesOf({ values, skipped, negative, cut }: Read): string[] {
  return [
    ...(skipped > 0 ? [`${count(skipped)} rows without a number in this column were left out.`] : []),
    ...(negative > 0
      ? [
          `${count(negative)} values are below 0 and are clamped to 0 here. In code, the option min keeps them.`,
        ]
      : []),
    ...(cut ? [`Only the first ${count(values.length)} values are used.`] : []),
    "The largest possible value was set from the file; in real use you must know it without looking at the data.",
  ];
}

/** A column of people: ε of a stream protects a row, and one person may have many. */
const peopleNotes = ({ columns }: FileShape): string[] =>
  columns
    .filter(({ kind }) => kind === "person")
    .slice(0, 1)
    .map(
      ({ name }) =>
        `“${name}” names people, and one person may have many rows: ε protects one row here, not one person. To protect people, change columns and publish as events.`,
    );
