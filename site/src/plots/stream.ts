/** Truth and private stream on one plot, with the hold-out shaded and a range that can be dragged. */
import uPlot from "uplot";
import type { Meaning } from "../data/example.js";
import { amount, count, powers } from "../look/format.js";
import { columnEnds } from "./columns.js";
import { axisOf, FONT, onThemeChange, theme } from "./theme.js";

export interface Lines {
  readonly truth: Float64Array;
  readonly private: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export interface StreamPlotOptions {
  readonly meaning: Meaning;
  /** Values in the whole stream: the axis is fixed from the start. */
  readonly total: number;
  /** Position of the first published value. */
  readonly holdout: number;
  /** What the shaded part is called on the plot. */
  readonly heldLabel: string;
  /** Called when a range has been dragged; from = to clears it. */
  readonly onSelect?: (from: number, to: number) => void;
  /** Called with the column under the pointer, or `undefined`. */
  readonly onHover?: (column: number | undefined) => void;
}

const DAY = 86_400;
const HOURS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720].map((hours) => hours * 3600);

export class StreamPlot {
  readonly #container: HTMLElement;
  readonly #watch: ResizeObserver;
  #options: StreamPlotOptions;
  #lines: Lines | undefined;
  #selected: readonly [from: number, to: number] = [0, 0];
  #plot: uPlot;
  #waiting = false;

  constructor(container: HTMLElement, options: StreamPlotOptions) {
    this.#container = container;
    this.#options = options;
    this.#plot = this.#make();
    this.#watch = new ResizeObserver(() => this.#resize());
    this.#watch.observe(container);
    onThemeChange(() => this.#remake());
  }

  /** Other data or another hold-out. */
  change(options: Partial<StreamPlotOptions>): void {
    const { total, meaning } = this.#options;
    this.#options = { ...this.#options, ...options };
    if (this.#options.total === total && this.#options.meaning === meaning) this.#plot.redraw();
    else {
      this.#lines = undefined;
      this.#remake();
    }
  }

  /** Shows these lines with the browser's next frame; only the newest ones count. */
  show(lines: Lines): void {
    this.#lines = lines;
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#plot.setData(this.#data());
    });
  }

  /** Marks a range of positions. */
  select(from: number, to: number): void {
    this.#selected = [from, to];
    this.#paintSelection(this.#plot);
  }

  #remake(): void {
    this.#plot.destroy();
    this.#plot = this.#make();
  }

  #make(): uPlot {
    const { meaning, total, onHover } = this.#options;
    const colours = theme();
    const axis = axisOf(colours);
    const plot = new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
        padding: [8, 12, 0, 0],
        scales: { x: { time: false, range: [0, total] }, y: { range: () => this.#height() } },
        axes: [
          {
            ...axis,
            space: 74,
            size: 30,
            ...(meaning.pace === undefined ? {} : { incrs: HOURS.map((seconds) => seconds / meaning.pace!) }),
            values: (_, splits) => splits.map((split) => tick(split, meaning)),
          },
          {
            ...axis,
            size: 62,
            label: meaning.unit,
            labelFont: FONT,
            labelSize: 20,
            values: (_, splits) => splits.map((split) => (Math.abs(split) < 1e7 ? amount : powers)(split)),
          },
        ],
        bands: [{ series: [1, 2], fill: colours.soft }],
        series: [
          {},
          { stroke: colours.soft, width: 1, points: { show: false } },
          { stroke: colours.soft, width: 1, points: { show: false } },
          { stroke: colours.accent, width: 2.2, points: { show: false } },
          { stroke: colours.truth, width: 1.3, points: { show: false } },
        ],
        hooks: {
          drawAxes: [(u) => this.#shadeHoldout(u)],
          draw: [(u) => this.#paintSelection(u)], // positions are new after a resize
          setCursor: [(u) => onHover?.(u.cursor.idx ?? undefined)],
        },
      },
      this.#data(),
      this.#container,
    );
    this.#listen(plot);
    return plot;
  }

  #data(): uPlot.AlignedData {
    const x = columnEnds(this.#options.total);
    const line = (values: Float64Array | undefined) => Array.from(x, (_, j) => known(values?.[j]));
    const lines = this.#lines;
    return [x, line(lines?.high), line(lines?.low), line(lines?.private), line(lines?.truth)];
  }

  /** From 0 (or the lowest point) to a little above the highest; the band may run out of the picture. */
  #height(): [number, number] {
    let low = 0;
    let high = 0;
    for (const line of [this.#lines?.truth, this.#lines?.private])
      for (const value of line ?? []) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    const room = 0.08 * (high - low || 1);
    return [low < 0 ? low - room : 0, high + room];
  }

  #shadeHoldout(u: uPlot): void {
    const { holdout, heldLabel, total } = this.#options;
    if (holdout <= 0) return;
    const colours = theme();
    const { ctx, bbox } = u;
    const width = Math.min(bbox.width, u.valToPos(Math.min(holdout, total), "x", true) - bbox.left);
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.fillStyle = colours.held;
    ctx.fillRect(bbox.left, bbox.top, width, bbox.height);
    ctx.fillStyle = colours.quiet;
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    if (ctx.measureText(heldLabel).width + 12 * ratio < width)
      ctx.fillText(heldLabel, bbox.left + 6 * ratio, bbox.top + 18 * ratio);
    ctx.restore();
  }

  /** Mouse, pen and finger alike: a drag selects, a click clears. */
  #listen(plot: uPlot): void {
    const { over } = plot;
    let start: number | undefined;
    const left = (event: PointerEvent) => {
      const box = over.getBoundingClientRect();
      return Math.min(box.width, Math.max(0, event.clientX - box.left));
    };
    const range = (event: PointerEvent): readonly [number, number] => {
      const [a, b] = [start!, left(event)].sort((p, q) => p - q) as [number, number];
      if (b - a < 4) return [0, 0];
      return [Math.round(plot.posToVal(a, "x")), Math.round(plot.posToVal(b, "x"))];
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || this.#options.onSelect === undefined) return;
      start = left(event);
      over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => {
      if (start !== undefined) this.select(...range(event));
    });
    over.addEventListener("pointerup", (event) => {
      if (start === undefined) return;
      const [from, to] = range(event);
      start = undefined;
      this.select(from, to);
      this.#options.onSelect?.(from, to);
    });
    over.addEventListener("pointercancel", () => (start = undefined));
  }

  #paintSelection(plot: uPlot): void {
    const [from, to] = this.#selected;
    const left = plot.valToPos(from, "x");
    const width = from < to ? plot.valToPos(Math.min(to, this.#options.total), "x") - left : 0;
    plot.setSelect({ left, width, top: 0, height: width > 0 ? plot.over.clientHeight : 0 }, false);
  }

  #size(): { width: number; height: number } {
    return {
      width: Math.max(200, this.#container.clientWidth),
      height: Math.max(160, this.#container.clientHeight),
    };
  }

  #resize(): void {
    if (this.#container.clientWidth === 0) return; // hidden
    this.#plot.setSize(this.#size());
  }
}

const known = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** "day 3", "06:00" within a day, or a position. */
function tick(position: number, { pace }: Meaning): string {
  if (pace === undefined) return count(position);
  const seconds = position * pace;
  if (seconds % DAY === 0) return `day ${seconds / DAY + 1}`;
  return `${String(Math.floor((seconds % DAY) / 3600)).padStart(2, "0")}:00`;
}
