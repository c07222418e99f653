/**
 * What Prometheus reads. Counters are about the service, never about events: how many events came is protected, and so
 * is how often the store was written. Private
 * numbers are gauges, and only as they were published: the newest finished range of each metric and key.
 */
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { Service } from "./service.js";

/** More series than this are too many for one page. */
const MOST_SERIES = 10_000;

export class Gauges {
  readonly #registry = new Registry();
  readonly #reads: Counter;

  constructor(service: Service) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const { engine } = service;
    const counter = (name: string, help: string, read: () => number) =>
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    counter("brume_store_failures_total", "Calls of the store that failed.", () => engine.stats.failures);
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    gauge("brume_ready", "1 if events can be taken.", () => (engine.trouble === undefined ? 1 : 0));
    gauge("brume_streams", "Metrics times keys.", () => engine.stats.streams);
    gauge("brume_budget_epsilon", "The ε that a person may spend in a day.", () => service.budget().limit);
    gauge("brume_budget_spent_epsilon", "The ε that metrics spend of it.", () => service.budget().spent);
    this.#reads = new Counter({
      name: "brume_reads_total",
      help: "Requests for published numbers, by route and status.",
      labelNames: ["route", "status"],
      registers,
    });
    this.#published(service);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts a request that is not about events: how many requests bring events is not told. */
  read(route: string, status: number): void {
    this.#reads.inc({ route, status });
  }

  /** The newest published range of each stream. */
  #published(service: Service): void {
    const labels = ["metric", "key", "bound"];
    const registers = [this.#registry];
    const quantiles = new Gauge({
      name: "brume_quantile",
      help: "Of a histogram: percentiles of the newest published range.",
      labelNames: [...labels, "quantile"],
      registers: [],
    });
    new Gauge({
      name: "brume_value",
      help: "The newest published number: of a histogram its total. bound: estimate, low or high.",
      labelNames: labels,
      registers,
      collect() {
        this.reset();
        quantiles.reset();
        let series = 0;
        for (const { metric } of service.engine.metrics)
          for (const key of metric.options === undefined ? [] : metric.keys) {
            if (++series > MOST_SERIES) return;
            const newest = service.newest(metric.name, key);
            if (newest === undefined) continue;
            const number = "total" in newest ? newest.total : newest;
            const own = { metric: metric.name, key };
            this.set({ ...own, bound: "estimate" }, number.value);
            this.set({ ...own, bound: "low" }, number.low);
            this.set({ ...own, bound: "high" }, number.high);
            if (!("quantiles" in newest)) continue;
            for (const { p, value, low, high } of newest.quantiles)
              for (const [bound, x] of Object.entries({ estimate: value, low, high }))
                if (x !== null) quantiles.set({ ...own, quantile: p, bound }, x); // null: too few events to tell
          }
      },
    });
    this.#registry.registerMetric(quantiles); // behind the one that fills it
  }
}
