/** How many events each person had today, per metric, as a part of the state. */
import { Contributions } from "brume/node";
import { DAY, type Metric } from "../config/metrics.js";
import type { Part } from "./part.js";

export class MetricPeople implements Part {
  readonly name: string;
  readonly contributions: Contributions;

  /** @param key hashes ids */
  constructor(metric: Metric, key: Uint8Array) {
    this.name = `people/${metric.name}`;
    this.contributions = new Contributions(key, { events: metric.perPerson!, every: DAY });
  }

  save(): Uint8Array {
    return this.contributions.save();
  }

  load(bytes: Uint8Array): void {
    this.contributions.load(bytes);
  }
}
