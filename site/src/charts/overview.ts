/** The whole stream as a strip, with a brush that says which part the plot shows. */
import { h } from "../look/dom.js";
import { heights, type Lines } from "./lines.js";
import { colours, onColours } from "./theme.js";

/** Pixels around an edge of the brush that grab it. */
const GRAB = 14;
/** The shortest part that can be shown, as a share. */
const LEAST = 1 / 2000;

export class Overview {
  readonly #container: HTMLElement;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #brush = h("div", {
    class: "overview-brush",
    tabindex: "0",
    role: "slider",
    "aria-label": "Part of the stream that is shown",
    "aria-valuemin": "0",
    "aria-valuemax": "100",
  });
  readonly #onChange: (from: number, to: number) => void;
  #part: readonly [from: number, to: number] = [0, 1];
  #lines: Lines | undefined;
  #total = 1;

  /** @param onChange gets the part that is wanted, as shares of the stream */
  constructor(container: HTMLElement, onChange: (from: number, to: number) => void) {
    this.#container = container;
    this.#onChange = onChange;
    container.append(this.#canvas, this.#brush);
    new ResizeObserver(() => this.#paint()).observe(container);
    onColours(() => this.#paint());
    this.#bind();
    this.place(0, 1);
  }

  show(lines: Lines | undefined, total: number): void {
    this.#lines = lines;
    this.#total = total;
    this.#paint();
  }

  /** Puts the brush over a part. */
  place(from: number, to: number): void {
    this.#part = [from, to];
    this.#brush.style.left = `${100 * from}%`;
    this.#brush.style.width = `${100 * (to - from)}%`;
    this.#brush.setAttribute("aria-valuenow", String(Math.round(50 * (from + to))));
    this.#brush.setAttribute(
      "aria-valuetext",
      `from ${Math.round(100 * from)} % to ${Math.round(100 * to)} %`,
    );
  }

  #move(from: number, to: number): void {
    const width = Math.min(1, Math.max(LEAST, to - from));
    const start = Math.min(1 - width, Math.max(0, from));
    this.place(start, start + width);
    this.#onChange(start, start + width);
  }

  #bind(): void {
    let grab: { readonly at: number; readonly part: readonly [number, number]; readonly edge: -1 | 0 | 1 };
    let held = false;
    const share = (event: PointerEvent) => {
      const box = this.#container.getBoundingClientRect();
      return (event.clientX - box.left) / box.width;
    };
    this.#container.addEventListener("pointerdown", (event) => {
      const at = share(event);
      const reach = GRAB / this.#container.clientWidth;
      let [from, to] = this.#part;
      const [nearFrom, nearTo] = [Math.abs(at - from) < reach, Math.abs(at - to) < reach];
      if (!nearFrom && !nearTo && (at < from || at > to)) {
        this.#move(at - (to - from) / 2, at + (to - from) / 2);
        [from, to] = this.#part;
      }
      grab = { at, part: [from, to], edge: nearFrom ? -1 : nearTo ? 1 : 0 };
      held = true;
      this.#container.setPointerCapture(event.pointerId);
    });
    this.#container.addEventListener("pointermove", (event) => {
      if (!held) return;
      const by = share(event) - grab.at;
      const [from, to] = grab.part;
      if (grab.edge === -1) this.#move(Math.min(Math.max(0, from + by), to - LEAST), to);
      else if (grab.edge === 1) this.#move(from, Math.max(Math.min(1, to + by), from + LEAST));
      else this.#move(from + by, to + by);
    });
    for (const name of ["pointerup", "pointercancel"] as const)
      this.#container.addEventListener(name, () => (held = false));
    this.#brush.addEventListener("keydown", (event) => {
      const [from, to] = this.#part;
      const step = (to - from) / 10;
      if (event.key === "ArrowLeft") this.#move(from - step, to - step);
      else if (event.key === "ArrowRight") this.#move(from + step, to + step);
      else if (event.key === "ArrowUp") this.#move(from + 2 * step, to - 2 * step);
      else if (event.key === "ArrowDown") this.#move(from - 2 * step, to + 2 * step);
      else return;
      event.preventDefault();
    });
  }

  #paint(): void {
    const { clientWidth, clientHeight } = this.#container;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    // A new size makes a new canvas: costly in every frame.
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    const lines = this.#lines;
    const ctx = this.#canvas.getContext("2d");
    if (ctx === null) return;
    ctx.clearRect(0, 0, width, height);
    if (lines === undefined) return;
    const look = colours();
    const [low, high] = heights(lines);
    ctx.strokeStyle = look.private;
    ctx.lineWidth = 1.4 * ratio;
    ctx.beginPath();
    let down = false;
    for (let j = 0; j < lines.x.length; j++) {
      const value = lines.private[j]!;
      if (Number.isNaN(value)) down = false;
      else {
        const x = (lines.x[j]! / this.#total) * width;
        const y = (1 - (value - low) / (high - low)) * height;
        if (down) ctx.lineTo(x, y);
        else ctx.moveTo(x, y);
        down = true;
      }
    }
    ctx.stroke();
  }
}
