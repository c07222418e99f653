/** Opens files, remembers the last one, and never shows one stream under another's name. */
import { unitOf } from "../data/cells.js";
import { type Data, exampleData, ownData } from "../data/chosen.js";
import { fitting, roundedUp, suggestedEpsilon } from "../data/fitting.js";
import type { Read } from "../data/read.js";
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

export class DataChoice {
  readonly #store: Store<State>;
  readonly #listeners: ((data: Data | undefined) => void)[] = [];
  readonly #preview = new Preview(
    (column, time) => this.#read(column, time),
    () => this.#status(""),
  );
  #job: Job<ToFile> | undefined;
  #fileName = "";
  #column: Column | undefined;
  /** About columns of people in the file that is open. */
  #people: readonly string[] = [];
  #data: Data | undefined;

  constructor(store: Store<State>) {
    this.#store = store;
    this.#listen();
    store.subscribe((state, before) => {
      if (state.file !== before.file && state.file !== this.#data?.id) void this.begin();
      else if (state.file === "" && state.seed !== before.seed) this.#use(exampleData(state.seed));
    });
  }

  /** Undefined while a file is missing or still being read. */
  get data(): Data | undefined {
    return this.#data;
  }

  subscribe(listener: (data: Data | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** The stream that the address names. */
  async begin(): Promise<void> {
    const { file, seed } = this.#store.state;
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
        this.#people = peopleNotes(message.shape);
        this.#status("");
        return this.#preview.show(this.#fileName, message.shape);
      case "progress":
        return this.#status(`Reading ${this.#fileName}: ${Math.round(100 * message.share)} %`);
      case "failed":
        return this.#fail(message.message);
      case "values":
        return this.#take(message.read);
    }
  }

  #read(column: Column, time: Column | undefined): void {
    this.#column = column;
    byId("data-error").textContent = "";
    this.#status(`Reading ${this.#fileName}…`);
    this.#job!.tell({ type: "read", column, time });
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
      ...this.#people,
      `ε = ${epsilon} is suggested for ${count(values.length)} values.`,
    ];
    const unit = unitOf(column.name);
    const meaning = {
      unit,
      sumUnit: unit,
      pace,
      ...(start === undefined ? {} : { start }),
    };
    const id = crypto.getRandomValues(new Uint32Array(2)).reduce((text, n) => text + n.toString(36), "");
    const stream = { id, name: this.#fileName, values, meaning, notes };
    this.#preview.hide();
    this.#status(notes.join(" "));
    void storeStream(stream);
    this.#data = ownData(stream);
    const none = { from: 0, to: 0, at: 0, left: 0, right: 0 };
    this.#store.set({ ...fitting(values.length), max, epsilon, ...none, file: id });
    this.#use(this.#data);
  }

  /** The message stands; the stream shown before goes on. */
  #fail(message: string): void {
    this.#status("");
    byId("data-error").textContent = `${this.#fileName}: ${message}`;
  }

  #backToExample(): void {
    this.#job?.stop();
    this.#preview.hide();
    byId("data-error").textContent = "";
    this.#status("");
    void forgetStream();
    const { fields, state } = this.#store;
    const keys = ["epsilon", "max", "holdout", "maxRange", "window", "speed"] as const;
    const places = ["from", "to", "at", "left", "right"] as const;
    this.#data = exampleData(state.seed);
    const initial = [...keys, ...places].map((key) => [key, fields[key].initial]);
    this.#store.set({ ...(Object.fromEntries(initial) as Partial<State>), file: "" });
    this.#use(this.#data);
  }

  #use(data: Data | undefined): void {
    this.#data = data;
    byId("data-name").textContent = data?.name ?? "";
    byId("data-size").textContent = data === undefined ? "" : `${count(data.total)} values`;
    byId("use-example").hidden = this.#store.state.file === "";
    for (const listener of this.#listeners) listener(data);
  }

  #listen(): void {
    const input = byId<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      if (input.files?.[0]) this.open(input.files[0]);
      input.value = "";
    });
    byId("use-example").addEventListener("click", () => this.#backToExample());
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

/** What a reader of the file should know. */
function notesOf({ values, skipped, negative, cut }: Read): string[] {
  return [
    ...(skipped > 0 ? [`${count(skipped)} rows without a number in this column were left out.`] : []),
    ...(negative > 0
      ? [`${count(negative)} values are below 0 and count as 0 here. In code, the option min keeps them.`]
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
        `“${name}” names people, and one person may have many rows: ε protects one row here, not one person. In code, the option perPerson protects people.`,
    );
