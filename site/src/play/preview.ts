/** The first look at a file: its columns as cards, its first 20 rows, what was detected, and what to make of it. */
import type { Kind } from "../data/cells.js";
import type { LogColumns } from "../data/read.js";
import type { Column, FileShape } from "../data/shape.js";
import { byId, h } from "../look/dom.js";
import { amount } from "../look/format.js";

const KINDS = { number: "numbers", time: "times", id: "ids", person: "people", text: "text" } as const;

/** Nothing in such a column can be streamed. */
const isNoStream = (kind: Kind): boolean => kind === "text" || kind === "person";

/** A bound that the settings of the lab can hold. */
const HUGE = 1e9;

/** Callbacks for the visitor's decision. */
export interface Choices {
  values(column: Column, time: Column | undefined): void;
  events(columns: LogColumns): void;
  cancel(): void;
}

export class Preview {
  readonly #choices: Choices;
  #shape: FileShape | undefined;

  constructor(choices: Choices) {
    this.#choices = choices;
    byId("preview-go").addEventListener("click", () => this.#go());
    byId("preview-events").addEventListener("click", () => this.#goEvents());
    byId("preview-cancel").addEventListener("click", () => {
      this.hide();
      choices.cancel();
    });
    for (const id of ["time-column", "person-column"])
      byId(id).addEventListener("change", () => this.#describe());
  }

  show(name: string, shape: FileShape): void {
    this.#shape = shape;
    const chosen =
      shape.columns.find((column) => column.kind === "number") ??
      shape.columns.find((column) => !isNoStream(column.kind))!;
    byId("preview-title").textContent = name;
    byId("preview-columns").replaceChildren(
      ...shape.columns.map((column) => card(column, column === chosen)),
    );
    const times = shape.columns.filter(({ kind }) => kind === "time");
    const fill = (id: string, none: string, options: readonly Column[], chosen: Column | undefined) => {
      const select = byId<HTMLSelectElement>(id);
      const all = options.map(({ key, name }) => h("option", { value: `.${key}` }, name));
      select.replaceChildren(h("option", { value: "" }, none), ...all);
      select.value = chosen === undefined ? "" : `.${chosen.key}`;
    };
    const people = shape.columns.filter(({ kind }) => kind === "person");
    fill("time-column", "none: count values", times, times[0]);
    const others = shape.columns.filter(({ kind }) => kind !== "time" && kind !== "person");
    fill("person-column", "none: protect single rows", [...people, ...others], people[0]);
    this.#describe();
    byId("preview-rows").replaceChildren(rowsOf(shape));
    byId("preview").hidden = false;
  }

  hide(): void {
    byId("preview").hidden = true;
  }

  /** Says what was detected and what it means; the way that protects more is offered first. */
  #describe(): void {
    const [time, person] = [this.#selected("time-column"), this.#selected("person-column")];
    const named = (found: Column | undefined) => (found === undefined ? "none" : `“${found.name}”`);
    byId("preview-found").textContent =
      `Times: ${named(time)}. People: ${named(person)}. Change it here if that is wrong.`;
    const events = byId<HTMLButtonElement>("preview-events");
    events.disabled = time === undefined;
    const first = time !== undefined && person !== undefined;
    events.classList.toggle("primary", first);
    byId("preview-go").classList.toggle("primary", !first);
    byId("preview-unit").textContent =
      time === undefined
        ? "Without a column of times there are no events: the values are streamed one after the other, and ε protects one row."
        : person === undefined
          ? "As events: counts or sums by hour and day. Either way ε protects one row, not a person."
          : "As events: counts or sums by hour and day, and ε protects all that one person does on a day. As values: ε protects one row, and a person with many rows is not protected.";
  }

  #selected(id: string): Column | undefined {
    const { value } = byId<HTMLSelectElement>(id);
    return this.#shape!.columns.find(({ key }) => `.${key}` === value);
  }

  get #column(): Column {
    const chosen = document.querySelector<HTMLInputElement>("#preview-columns input:checked")!;
    return this.#shape!.columns.find(({ key }) => key === chosen.value)!;
  }

  #go(): void {
    const [column, time] = [this.#column, this.#selected("time-column")];
    this.#choices.values(column, time === column ? undefined : time);
  }

  #goEvents(): void {
    const [column, person] = [this.#column, this.#selected("person-column")];
    const value = column.kind === "number" && column !== person ? column : undefined;
    this.#choices.events({ time: this.#selected("time-column")!, person, value });
  }
}

/** Why a column cannot be streamed, or should not. */
export function problemOf({ kind, most, name }: Column, largest = most ?? 0): string | undefined {
  if (kind === "text") return "no numbers";
  if (kind === "person") return "people, no numbers";
  if (largest > HUGE)
    return `“${name}” has values up to ${amount(largest)}, and the lab takes at most ${amount(HUGE)}. If they are times or ids, choose another column, or take this one as the time axis. If they are amounts, write them in a larger unit (thousands, megabytes).`;
  return undefined;
}

function card(column: Column, checked: boolean): HTMLElement {
  const { key, name, kind, least, most } = column;
  const usable = problemOf(column) === undefined;
  const input = h("input", { type: "radio", name: "preview-column", value: key });
  input.checked = checked;
  input.disabled = isNoStream(kind);
  const ends = least === undefined || kind === "person" ? "" : `${amount(least)} to ${amount(most!)}`;
  const advice =
    kind === "time"
      ? "good as the time axis"
      : kind === "id"
        ? "counts rows; nothing to protect"
        : usable
          ? ""
          : kind === "text"
            ? "cannot be streamed"
            : kind === "person"
              ? "who it is about: cannot be streamed"
              : "very large";
  return h(
    "label",
    { class: `column-card${isNoStream(kind) ? " off" : ""}` },
    input,
    h("strong", { title: name }, name),
    h("span", { class: "small quiet" }, [KINDS[kind], ends].filter(Boolean).join(", ")),
    h("span", { class: "small quiet" }, advice),
  );
}

function rowsOf({ columns, rows }: FileShape): HTMLElement {
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...columns.map(({ name }) => h("th", { scope: "col", title: name }, name)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
  );
}
