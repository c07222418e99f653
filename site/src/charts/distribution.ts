/** How values are distributed: what the reports say as a band with a line in it, the truth as another line. */
import uPlot from "uplot";
import { amount } from "../look/format.js";
import { axisOf, colours, FONT, onColours } from "./theme.js";

export interface Shares {
  /** Right ends of the bins, in units of the values. */
  readonly ends: Float64Array;
  readonly truth: Float64Array;
  readonly estimate: Float64Array;
  /** A band that holds all true shares at once, with 95 %. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export class DistributionChart {
  readonly #container: HTMLElement;
  readonly #unit: string;
  #shares: Shares | undefined;
  #fogged = true;
  /** The upper end of the vertical axis: it only grows, so that a forming picture stays put. */
  #top = 0;
  #plot: uPlot | undefined;

  constructor(container: HTMLElement, unit: string) {
    this.#container = container;
    this.#unit = unit;
    new ResizeObserver(() => {
      if (container.clientWidth > 0) this.#plot?.setSize(this.#size());
    }).observe(container);
    onColours(() => this.#remake());
  }

  show(shares: Shares, fogged: boolean): void {
    const same = this.#plot !== undefined && shares.ends.length === this.#shares?.ends.length;
    this.#shares = shares;
    this.#top = Math.max(
      same ? this.#top : 0,
      140 * Math.max(...shares.truth),
      105 * Math.max(...shares.high),
    );
    if (same && fogged === this.#fogged) this.#plot!.setData(this.#data());
    else {
      this.#fogged = fogged;
      this.#remake();
    }
  }

  clear(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#shares = undefined;
  }

  #remake(): void {
    if (this.#shares === undefined) return;
    this.#plot?.destroy();
    const look = colours();
    const axis = axisOf(look);
    const stepped = uPlot.paths.stepped!({ align: -1 });
    this.#plot = new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: { show: false },
        padding: [10, 16, 0, 0],
        scales: {
          x: { time: false, range: (_, least, most) => [Math.min(0, least), most] },
          y: { range: () => [0, this.#top] },
        },
        axes: [
          {
            ...axis,
            size: 28,
            label: this.#unit,
            labelFont: FONT,
            labelSize: 22,
            labelGap: 0,
            values: (_, s) => s.map(amount),
          },
          { ...axis, space: 46, size: 56, values: (_, s) => s.map((value) => `${amount(value)} %`) },
        ],
        series: [
          {},
          { stroke: look.private, width: 1.4, paths: stepped, points: { show: false } },
          {
            stroke: look.secret,
            width: 1.4,
            dash: [5, 3],
            paths: stepped,
            points: { show: false },
            show: !this.#fogged,
          },
          { width: 0, paths: stepped, points: { show: false } },
          { width: 0, paths: stepped, points: { show: false } },
        ],
        bands: [{ series: [4, 3], fill: look.privateSoft }],
      },
      this.#data(),
      this.#container,
    );
  }

  #data(): uPlot.AlignedData {
    const { ends, truth, estimate, low, high } = this.#shares!;
    // A step ends at its x; the first one begins at 0.
    const asPercent = (shares: Float64Array) => Array.from([shares[0]!, ...shares], (share) => 100 * share);
    return [[0, ...ends], ...[estimate, truth, low, high].map(asPercent)] as uPlot.AlignedData;
  }

  #size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.#container;
    return { width: Math.max(200, clientWidth), height: Math.max(160, clientHeight) };
  }
}
