/** The first look at a file: its columns as cards, its first 20 rows, and which column to stream. */
import type { Kind } from "../data/cells.js";
import type { Column, FileShape } from "../data/shape.js";
import { byId, h } from "../look/dom.js";
import { amount } from "../look/format.js";

const KINDS = { number: "numbers", time: "times", id: "ids", person: "people", text: "text" } as const;

/** Nothing in such a column can be streamed. */
const isNoStream = (kind: Kind): boolean => kind === "text" || kind === "person";

/** A bound that the settings of the lab can hold. */
const HUGE = 1e9;

export class Preview {
  readonly #onChoice: (column: Column, time: Column | undefined) => void;
  #shape: FileShape | undefined;

  constructor(onChoice: (column: Column, time: Column | undefined) => void, onCancel: () => void) {
    this.#onChoice = onChoice;
    byId("preview-go").addEventListener("click", () => this.#go());
    byId("preview-cancel").addEventListener("click", () => {
      this.hide();
      onCancel();
    });
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
    const select = byId<HTMLSelectElement>("time-column");
    select.replaceChildren(
      h("option", { value: "" }, "none: count values"),
      ...times.map(({ key, name }) => h("option", { value: key }, name)),
    );
    select.value = times[0]?.key ?? "";
    byId("preview-rows").replaceChildren(rowsOf(shape));
    byId("preview").hidden = false;
  }

  hide(): void {
    byId("preview").hidden = true;
  }

  #go(): void {
    const { columns } = this.#shape!;
    const chosen = document.querySelector<HTMLInputElement>("#preview-columns input:checked")!;
    const column = columns.find(({ key }) => key === chosen.value)!;
    const time = columns.find(({ key }) => key === byId<HTMLSelectElement>("time-column").value);
    this.#onChoice(column, time === column ? undefined : time);
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
