/** How many events each person had today, per metric, as a part of the state. */
import { Contributions } from "brume/node";
import { DAY, type Metric } from "../config/metrics.js";
import type { Part } from "./part.js";

export class MetricPeople implements Part {
  readonly name: string;
  readonly contributions: Contributions;
  readonly #metric: Metric;
  #time: number;

  /** @param key hashes ids */
  constructor(metric: Metric, key: Uint8Array, time: number) {
    this.#metric = metric;
    this.#time = time;
    this.name = `people/${metric.name}`;
    this.contributions = new Contributions(key, { events: metric.perPerson!, every: DAY });
  }

  /** Time passes: days whose ticks are closed are forgotten. */
  pass(time: number): void {
    this.#time = time;
    this.contributions.forgetBefore(this.#oldest);
  }

  get #oldest(): number {
    return this.#time - this.#metric.lateness - this.#metric.every;
  }

  save(): Uint8Array {
    return this.contributions.save(this.#oldest, this.#time + this.#metric.skew);
  }

  load(bytes: Uint8Array): void {
    this.contributions.load(bytes);
  }
}
