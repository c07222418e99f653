/** Fields and sliders ↔ state. A field's `name` is a key of the state; a slider names the field it moves. */
import type { Store } from "./state.js";

type Input = HTMLInputElement | HTMLSelectElement;

/** Binds everything in `root` that has the name of a field, both ways. */
export function bindControls<S extends object>(root: ParentNode, store: Store<S>): void {
  const { fields } = store;
  const isField = (name: string): name is string & keyof S => name in fields;
  const inputs = [...root.querySelectorAll<Input>("input[name], select[name]")].filter(({ name }) =>
    isField(name),
  );
  const sliders = [...root.querySelectorAll<HTMLInputElement>("input[data-slides]")].map(
    (input) => new Slider(input),
  );
  const change = (key: string, value: unknown) => store.set({ [key]: value } as Partial<S>);
  const show = (input: Input) => {
    const value = String(store.state[input.name as keyof S]);
    if (input instanceof HTMLInputElement && input.type === "radio") input.checked = input.value === value;
    else input.value = value;
    markInvalid(input, false);
  };

  for (const input of inputs) {
    input.addEventListener("input", () => {
      if (input instanceof HTMLInputElement && input.type === "radio" && !input.checked) return;
      const value = fields[input.name as keyof S].read(input.value);
      markInvalid(input, value === undefined);
      if (value !== undefined) change(input.name, value);
    });
    // A field left with nonsense in it shows again what is in force.
    input.addEventListener("change", () => show(input));
  }
  for (const slider of sliders)
    slider.input.addEventListener("input", () => change(slider.key, slider.value));

  const showAll = () => {
    for (const input of inputs) if (input !== document.activeElement || input.type !== "number") show(input);
    for (const slider of sliders) slider.show(store.state[slider.key as keyof S] as number);
  };
  store.subscribe(showAll);
  showAll();
}

function markInvalid(input: Input, invalid: boolean): void {
  if (invalid) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** A slider on a logarithmic scale: `data-base="2"` stops at powers of two, others at two digits. */
class Slider {
  readonly input: HTMLInputElement;
  readonly key: string;
  readonly #least: number;
  readonly #powers: boolean;

  constructor(input: HTMLInputElement) {
    this.input = input;
    this.key = input.dataset["slides"]!;
    this.#least = Number(input.dataset["least"]);
    this.#powers = input.dataset["base"] === "2";
    const octaves = Math.log2(Number(input.dataset["most"]) / this.#least);
    input.min = "0";
    input.max = String(octaves);
    input.step = this.#powers ? "1" : String(octaves / 400);
  }

  get value(): number {
    const value = this.#least * 2 ** Number(this.input.value);
    return this.#powers ? Math.round(value) : Number(value.toPrecision(2));
  }

  show(value: number): void {
    if (this.value !== value) this.input.value = String(Math.log2(value / this.#least));
    this.input.setAttribute("aria-valuetext", String(value));
  }
}
