/** How values are distributed: truth in grey, what the reports say in colour, θ as a dashed line. */
import uPlot from "uplot";
import { amount } from "../look/format.js";
import type { Histogram } from "../workers/protocol.js";
import { axisOf, FONT, onThemeChange, theme } from "./theme.js";

export class DistributionPlot {
  readonly #container: HTMLElement;
  #histogram: Histogram | undefined;
  #threshold: number | undefined;
  #unit = "";
  #plot: uPlot | undefined;

  constructor(container: HTMLElement) {
    this.#container = container;
    new ResizeObserver(() => {
      if (container.clientWidth > 0) this.#plot?.setSize(this.#size());
    }).observe(container);
    onThemeChange(() => this.#remake());
  }

  /** @param threshold θ, once chosen */
  show(histogram: Histogram, threshold: number | undefined, unit: string): void {
    const same =
      this.#plot !== undefined &&
      unit === this.#unit &&
      histogram.ends.length === this.#histogram?.ends.length;
    this.#histogram = histogram;
    this.#threshold = threshold;
    this.#unit = unit;
    if (same) this.#plot!.setData(this.#data());
    else this.#remake();
  }

  #remake(): void {
    if (this.#histogram === undefined) return;
    this.#plot?.destroy();
    const colours = theme();
    const axis = axisOf(colours);
    const stepped = uPlot.paths.stepped!({ align: -1 });
    this.#plot = new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 12, 0, 0],
        scales: {
          x: { time: false, range: (_, least, most) => [Math.min(0, least), most] },
          y: { range: (_, __, most) => [0, 1.08 * (most || 1)] },
        },
        axes: [
          {
            ...axis,
            size: 28,
            label: this.#unit,
            labelFont: FONT,
            labelSize: 18,
            values: (_, splits) => splits.map((split) => amount(split)),
          },
          { ...axis, size: 56, values: (_, splits) => splits.map((split) => `${amount(100 * split)} %`) },
        ],
        series: [
          {},
          { stroke: colours.truth, width: 1.3, fill: colours.held, paths: stepped, points: { show: false } },
          { stroke: colours.accent, width: 2.2, paths: stepped, points: { show: false } },
        ],
        hooks: { draw: [(u) => this.#drawThreshold(u)] },
      },
      this.#data(),
      this.#container,
    );
  }

  #data(): uPlot.AlignedData {
    const { ends, truth, estimate } = this.#histogram!;
    return [ends, truth, estimate.length > 0 ? estimate : Array.from(ends, () => null)];
  }

  #drawThreshold(u: uPlot): void {
    if (this.#threshold === undefined) return;
    const { ctx, bbox } = u;
    const x = u.valToPos(this.#threshold, "x", true);
    const ratio = devicePixelRatio;
    const label = `θ = ${amount(this.#threshold)}`;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = theme().ink;
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    const fits = x + ctx.measureText(label).width + 8 * ratio < bbox.left + bbox.width;
    ctx.textAlign = fits ? "left" : "right";
    ctx.fillText(label, x + (fits ? 6 : -6) * ratio, bbox.top + 16 * ratio);
    ctx.restore();
  }

  #size(): { width: number; height: number } {
    return {
      width: Math.max(200, this.#container.clientWidth),
      height: Math.max(140, this.#container.clientHeight),
    };
  }
}
