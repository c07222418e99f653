/** Which stream is shown: the example, or a file of the visitor's own that never leaves the browser. */
import { EXAMPLE } from "brume/research";
import { exampleMeaning, type Meaning } from "../data/example.js";
import type { Column } from "../data/files.js";
import { byId, h } from "../look/dom.js";
import { count } from "../look/format.js";
import { FIELDS, type State, type Store } from "../state.js";
import type { FromFile, Source, ToFile } from "../workers/protocol.js";

export interface Data {
  readonly source: Source;
  readonly total: number;
  readonly meaning: Meaning;
}

const LEAST_VALUES = 64;

export class DataChoice {
  readonly #store: Store;
  readonly #listeners: ((data: Data) => void)[] = [];
  #worker: Worker | undefined;
  #fileName = "";
  #columns: readonly Column[] = [];
  #column: Column | undefined;
  #data: Data;

  constructor(store: Store) {
    this.#store = store;
    this.#data = example(store.state.seed);
    this.#listen();
    this.#describe();
    store.subscribe((state, before) => {
      if (this.#data.source.kind === "example" && state.seed !== before.seed) this.#use(example(state.seed));
    });
  }

  get data(): Data {
    return this.#data;
  }

  subscribe(listener: (data: Data) => void): void {
    this.#listeners.push(listener);
  }

  open(file: File): void {
    this.#worker?.terminate();
    this.#worker = new Worker(new URL("../workers/file.ts", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromFile>) => this.#hear(data));
    this.#worker.addEventListener("error", () => this.#fail("The file could not be read."));
    this.#fileName = file.name;
    byId("data-error").textContent = "";
    this.#status(`Reading ${file.name}…`);
    this.#tell({ type: "open", file });
  }

  #hear(message: FromFile): void {
    switch (message.type) {
      case "shape":
        this.#columns = message.shape.columns;
        this.#column = message.chosen;
        return;
      case "progress":
        return this.#status(`Reading ${this.#fileName}: ${Math.round(100 * message.share)} %`);
      case "failed":
        return this.#fail(message.message);
      case "values":
        return this.#take(message.values, message.largest, message.skipped, message.cut);
    }
  }

  #take(values: Float64Array, largest: number, skipped: number, cut: boolean): void {
    if (values.length < LEAST_VALUES)
      return this.#fail(
        `${count(values.length)} values found, at least ${LEAST_VALUES} are needed for a stream.`,
      );
    const name = this.#column!.name;
    const notes = [
      ...(skipped > 0 ? [`${count(skipped)} rows without a number in this column were left out.`] : []),
      ...(cut ? [`Only the first ${count(values.length)} values are used.`] : []),
      "The largest possible value was set from the file; in real use it must be known without looking at the data.",
    ];
    this.#status(notes.join(" "));
    byId("data-error").textContent = "";
    this.#store.set({ ...fitting(values.length), max: roundedUp(largest), from: 0, to: 0, at: 0 });
    this.#use({
      source: { kind: "values", values },
      total: values.length,
      meaning: { unit: name, sumUnit: name, pace: undefined },
    });
  }

  /** The message stands; the stream shown before goes on. */
  #fail(message: string): void {
    this.#status("");
    byId("data-error").textContent = `${this.#fileName}: ${message}`;
    if (this.#data.source.kind === "example") this.#columns = [];
    this.#describe();
  }

  #backToExample(): void {
    this.#worker?.terminate();
    this.#columns = [];
    byId("data-error").textContent = "";
    this.#status("");
    const keys = ["max", "holdout", "maxRange", "window", "speed", "from", "to", "at"] as const;
    this.#store.set(Object.fromEntries(keys.map((key) => [key, FIELDS[key].initial])));
    this.#use(example(this.#store.state.seed));
  }

  #use(data: Data): void {
    this.#data = data;
    this.#describe();
    for (const listener of this.#listeners) listener(data);
  }

  #describe(): void {
    const own = this.#data.source.kind === "values";
    byId("data-name").textContent = own ? this.#fileName : "Example: DNS queries per second, 12 days";
    byId("data-size").textContent = `${count(this.#data.total)} values`;
    byId("use-example").hidden = !own;
    byId("column-field").hidden = this.#columns.length < 2;
    const select = byId<HTMLSelectElement>("column");
    select.replaceChildren(
      ...this.#columns.map(({ key, name, numeric }) =>
        h("option", { value: key }, numeric ? name : `${name} (no numbers)`),
      ),
    );
    if (this.#column) select.value = this.#column.key;
  }

  #listen(): void {
    const input = byId<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      if (input.files?.[0]) this.open(input.files[0]);
      input.value = "";
    });
    byId("use-example").addEventListener("click", () => this.#backToExample());
    byId<HTMLSelectElement>("column").addEventListener("change", ({ target }) => {
      this.#column = this.#columns.find(({ key }) => key === (target as HTMLSelectElement).value);
      this.#tell({ type: "column", column: this.#column! });
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

  #tell(message: ToFile): void {
    this.#worker!.postMessage(message);
  }
}

const example = (seed: string): Data => ({
  source: { kind: "example", seed },
  total: EXAMPLE.length,
  meaning: exampleMeaning,
});

/** Settings that suit a stream of n values: an eighth held out at most, one forest for all the rest. */
function fitting(n: number): Pick<State, "holdout" | "maxRange" | "window" | "speed"> {
  const below = 2 ** Math.floor(Math.log2(n));
  return {
    holdout: Math.max(16, Math.min(2 ** 16, below / 8)),
    maxRange: Math.min(2 ** 24, Math.max(2 ** 8, below < n ? 2 * below : below)),
    window: Math.max(1, Math.round(n / 150)),
    speed: n > 400_000 ? 1_000_000 : n > 80_000 ? 50_000 : n > 8000 ? 10_000 : 1000,
  };
}

/** 1, 2 or 5 times a power of ten, no smaller than x. */
function roundedUp(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x || 1));
  return Number(([1, 2, 5, 10].find((digit) => digit * power >= x)! * power).toPrecision(1));
}
