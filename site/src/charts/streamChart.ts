/** A stream and its private release on one plot: margin, prediction, hold-out, a range that can be dragged. */
import uPlot from "uplot";
import { h } from "../look/dom.js";
import { amount, powers } from "../look/format.js";
import { bindKeys, bindPointers } from "./gestures.js";
import { heights, known, type Lines, type Words } from "./lines.js";
import { paintFaint, paintHeld, paintMist, paintNames, paintUnit } from "./painting.js";
import { axisOf, colours, FONT, onColours } from "./theme.js";

export interface StreamChartOptions {
  readonly words: Words;
  /** Positions at the two ends of the plot. */
  readonly from: number;
  readonly to: number;
  /** Position of the first published value: hatched up to there. */
  readonly holdout?: number;
  /** Whether mist lies over the secret line. */
  readonly fogged?: boolean;
  /** Leaves out names at the ends of lines and the vertical axis: for small charts. */
  readonly small?: boolean;
  /** Charts of one name share a cursor. */
  readonly sync?: string;
  /** A fixed upper end of the vertical axis. */
  readonly top?: number;
  /** A range was dragged or made with keys; from = to clears it. */
  readonly onSelect?: (from: number, to: number) => void;
  /** Other ends are wanted. Returns whether anything changes. */
  readonly onZoom?: (factor: number, around: number) => boolean;
  /** The cursor was moved with keys, to this column. */
  readonly onCursor?: (column: number) => void;
}

export class StreamChart {
  readonly #container: HTMLElement;
  readonly #range = h("div", { class: "chart-range", hidden: "" });
  readonly #tip = h("div", { class: "chart-tip", hidden: "" });
  readonly #watch: ResizeObserver;
  readonly #unwatch: () => void;
  #options: StreamChartOptions;
  #lines: Lines | undefined;
  #faint: readonly Float64Array[] = [];
  #selected: readonly [from: number, to: number] = [0, 0];
  /** Where Shift and arrows began. */
  #anchor: number | undefined;
  #plot: uPlot;
  #waiting = false;

  constructor(container: HTMLElement, options: StreamChartOptions) {
    this.#container = container;
    this.#options = options;
    this.#plot = this.#make();
    this.#watch = new ResizeObserver(() => this.#resize());
    this.#watch.observe(container);
    this.#unwatch = onColours(() => this.#remake());
    if (options.onSelect !== undefined) this.#bindKeys();
  }

  get lines(): Lines | undefined {
    return this.#lines;
  }

  /** Other ends, words, hold-out or mist. A plot that only shows another part stays: fingers may be on it. */
  change(options: Partial<StreamChartOptions>): void {
    const before = this.#options;
    this.#options = { ...before, ...options };
    const other = (Object.keys(options) as (keyof StreamChartOptions)[]).filter(
      (key) => !["from", "to", "holdout"].includes(key) && options[key] !== before[key],
    );
    if (other.length > 0) this.#remake();
    else this.#plot.setData(this.#data());
  }

  /** Shows these lines with the browser's next frame; only the newest ones count. */
  show(lines: Lines | undefined, faint: readonly Float64Array[] = []): void {
    this.#lines = lines;
    this.#faint = faint;
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#plot.setData(this.#data());
    });
  }

  /** Marks a range of positions, always visible. */
  select(from: number, to: number): void {
    this.#selected = [from, to];
    this.#placeRange();
  }

  destroy(): void {
    this.#watch.disconnect();
    this.#unwatch();
    this.#plot.destroy();
  }

  #remake(): void {
    this.#plot.destroy();
    this.#plot = this.#make();
  }

  #make(): uPlot {
    const { words, small = false, fogged = false, sync, onZoom, onSelect, top } = this.#options;
    const look = colours();
    const axis = axisOf(look);
    const none = { points: { show: false } };
    const margin = { ...none, stroke: look.privateEdge, width: 1 };
    const plot = new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: {
          drag: { x: false, y: false },
          y: false,
          points: { size: 8 },
          ...(sync === undefined ? {} : { sync: { key: sync, setSeries: false } }),
        },
        padding: [small ? 10 : 26, small ? 14 : this.#container.clientWidth < 560 ? 66 : 84, 0, 0],
        scales: {
          x: { time: false, range: () => [this.#options.from, this.#options.to] },
          y: { range: () => (top === undefined ? heights(this.#lines, this.#faint) : [0, top]) },
        },
        axes: [
          {
            ...axis,
            space: small ? 60 : 86,
            size: 30,
            ...(words.steps ? { incrs: [...words.steps] } : {}),
            values: (_, splits) => splits.map((split) => words.tick(split)),
          },
          {
            ...axis,
            space: 46,
            size: (u, values) => axisWidth(u, values),
            values: (_, splits) => splits.map((split) => (Math.abs(split) < 1e6 ? amount : powers)(split)),
          },
        ],
        bands: [
          { series: [3, 2], fill: look.privateSoft },
          { series: [1, 3], fill: look.clampedSoft },
        ],
        series: [
          {},
          { ...none, stroke: look.clamped, width: 1, dash: [2, 3] },
          margin,
          margin,
          { ...none, stroke: look.secret, width: 1, dash: [2, 4], show: !fogged },
          { ...none, stroke: look.secret, width: 1.1, show: !fogged },
          { ...none, stroke: look.private, width: 1.2, dash: [4, 4] },
          { points: { size: 6, fill: look.private, filter: alone }, stroke: look.private, width: 2.4 },
        ],
        hooks: {
          drawAxes: [(u) => this.#paintBehind(u, look)],
          draw: [
            (u) => {
              if (!small) paintUnit(u, words.unit, look);
              if (!small && this.#lines) paintNames(u, this.#lines, this.#options.fogged === true, look);
              this.#placeRange(u);
            },
          ],
          setCursor: [(u) => this.#placeTip(u)],
        },
      },
      this.#data(),
      this.#container,
    );
    plot.over.append(this.#range, this.#tip);
    if (onSelect !== undefined)
      bindPointers(plot.over, {
        drag: (a, b) => this.select(...this.#positions(a, b)),
        drop: (a, b) => onSelect(...this.#positions(a, b)),
        zoom: (factor, around) => onZoom?.(factor, around) ?? false,
      });
    return plot;
  }

  #positions(a: number, b: number): [number, number] {
    if (a === b) return [0, 0];
    const { from, to } = this.#options;
    return [Math.round(from + a * (to - from)), Math.round(from + b * (to - from))];
  }

  #data(): uPlot.AlignedData {
    const lines = this.#lines;
    const x = lines?.x ?? new Float64Array();
    const line = (values: Float64Array | undefined) => Array.from(x, (_, j) => known(values?.[j]));
    return [
      x,
      ...[lines?.clampedHigh, lines?.low, lines?.high].map(line),
      ...[lines?.uncounted, lines?.secret, lines?.prediction, lines?.private].map(line),
    ] as uPlot.AlignedData;
  }

  #paintBehind(u: uPlot, look: ReturnType<typeof colours>): void {
    const { holdout = 0, fogged } = this.#options;
    if (holdout > 0) paintHeld(u, 0, holdout, "held out", look);
    const lines = this.#lines;
    if (lines && this.#faint.length > 0) paintFaint(u, lines.x, this.#faint, look);
    if (lines?.secret && fogged === true) paintMist(u, lines.x, lines.secret, look);
  }

  #placeRange(plot = this.#plot): void {
    const [from, to] = this.#selected;
    const [left, right] = [this.#options.from, this.#options.to];
    const visible = from < to && to > left && from < right;
    this.#range.hidden = !visible;
    if (!visible) return;
    const start = plot.valToPos(Math.max(from, left), "x");
    this.#range.style.left = `${start}px`;
    this.#range.style.width = `${Math.max(2, plot.valToPos(Math.min(to, right), "x") - start)}px`;
  }

  #placeTip(u: uPlot): void {
    const j = u.cursor.idx;
    const lines = this.#lines;
    const left = u.cursor.left ?? -1;
    this.#tip.hidden = true;
    if (this.#options.small === true || lines === undefined || j === null || j === undefined || left < 0)
      return;
    const rows = this.#rows(lines, j);
    if (rows.length === 0) return;
    this.#tip.replaceChildren(
      h("strong", {}, this.#options.words.place(lines.x[j]!)),
      h("dl", {}, ...rows.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
    );
    this.#tip.hidden = false;
    const room = u.over.clientWidth - this.#tip.offsetWidth;
    this.#tip.style.left = `${Math.max(0, left + 16 > room ? left - this.#tip.offsetWidth - 16 : left + 16)}px`;
  }

  #rows(lines: Lines, j: number): [string, string][] {
    const { words, fogged } = this.#options;
    const row = (name: string, line: Float64Array | undefined): [string, string][] =>
      known(line?.[j]) === null ? [] : [[name, words.value(line![j]!)]];
    return [
      ...(fogged === true ? [] : row("secret", lines.secret)),
      ...(fogged === true ? [] : row("secret, uncounted too", lines.uncounted)),
      ...row("private", lines.private),
      ...row("margin, from", lines.low),
      ...row("to", lines.high),
      ...row(words.dashed ?? "published then", lines.prediction),
    ];
  }

  #bindKeys(): void {
    const { onSelect, onZoom } = this.#options;
    bindKeys(this.#container, {
      move: (columns, extend) => {
        const x = this.#lines?.x;
        if (x === undefined || x.length === 0) return;
        const now = this.#plot.cursor.idx ?? (columns > 0 ? -1 : x.length);
        const next = Math.min(x.length - 1, Math.max(0, now + columns));
        if (extend) {
          this.#anchor ??= x[Math.max(0, now)]!;
          this.select(Math.min(this.#anchor, x[next]!), Math.max(this.#anchor, x[next]!));
        } else this.#anchor = undefined;
        this.#plot.setCursor({ left: this.#plot.valToPos(x[next]!, "x"), top: 10 });
        this.#options.onCursor?.(next);
      },
      ask: () => onSelect!(...this.#selected),
      clear: () => {
        this.#anchor = undefined;
        onSelect!(0, 0);
      },
      zoom: (factor) => onZoom?.(factor, 0.5),
    });
  }

  #size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.#container;
    return { width: Math.max(200, clientWidth), height: Math.max(120, clientHeight) };
  }

  #resize(): void {
    if (this.#container.clientWidth > 0) this.#plot.setSize(this.#size());
  }
}

/** Points without neighbours, of which a line shows nothing. */
const alone = ({ data }: uPlot, series: number): number[] => {
  const line = data[series]!;
  const gap = (j: number) => (line[j] ?? null) === null;
  return Array.from(line.keys()).filter((j) => !gap(j) && gap(j - 1) && gap(j + 1));
};

/** Room for the widest number of an axis. */
function axisWidth({ ctx }: uPlot, values: readonly string[] | null): number {
  ctx.font = FONT;
  return 14 + Math.max(24, ...(values ?? []).map((text) => ctx.measureText(text).width));
}

/** A chart in `container`, which has a height of its own. */
export const streamChart = (container: HTMLElement, options: StreamChartOptions): StreamChart =>
  new StreamChart(container, options);
