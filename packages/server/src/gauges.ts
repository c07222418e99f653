/**
 * Counters and gauges for Prometheus. Counters are about the service, never about events: how many events came is protected, and so
 * is how often the store was written. Private numbers are gauges, and only as they were published: the newest period of
 * each metric and key. Where nothing was measured there is no sample.
 */
import type { HistogramAnswer } from "brume";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { LIVE_QUANTILES } from "./http/liveFeed.js";
import type { Answer, Service } from "./service.js";
import type { ServedMetric } from "./servedMetrics.js";

/** Metrics times keys on one page; `brume_series_cut` says how many more there are. */
export const MOST_SERIES = 10_000;

export class Gauges {
  readonly #service: Service;
  readonly #registry = new Registry();
  readonly #reads: Counter;
  /** The lines of each metric, as of a version of it; those who ask meanwhile wait for the same ones. */
  readonly #lines = new Map<string, { readonly version: number; readonly lines: Promise<Lines> }>();
  /** The page that is being made. */
  #page: Promise<Buffer> | undefined;

  /** @param guarded whether a token is needed to read it: process metrics tell how busy the machine is */
  constructor(service: Service, guarded: boolean) {
    this.#service = service;
    const registers = [this.#registry];
    if (guarded) collectDefaultMetrics({ register: this.#registry });
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
    counter("brume_store_failures_total", "Calls of the store that failed.", () => service.failures);
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    gauge("brume_ready", "1 if events can be taken.", () => (service.trouble === undefined ? 1 : 0));
    const streams = (): number =>
      [...service.metrics.values()].reduce(
        (sum, { config: metric }) => sum + (metric.options === undefined ? 0 : metric.keys.length),
        0,
      );
    gauge("brume_streams", "Metrics times keys.", streams);
    gauge(
      "brume_series_cut",
      `Metrics times keys that this page leaves out, because it has room for ${MOST_SERIES}; ask /v1/query for them.`,
      () => Math.max(0, streams() - MOST_SERIES),
    );
    gauge("brume_budget_epsilon", "The ε that a person may spend in a day.", () => service.budget().limit);
    gauge("brume_budget_spent_epsilon", "The ε that metrics spend of it.", () => service.budget().spent);
    this.#reads = new Counter({
      name: "brume_reads_total",
      help: "Requests for published numbers, by route and status.",
      labelNames: ["route", "status"],
      registers,
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * The page. The numbers of a metric are put together once for all readers, until it publishes again; and readers who come
   * while a page is made get the same bytes, which may be megabytes.
   */
  text(): Promise<Buffer> {
    return (this.#page ??= this.#makePage().finally(() => (this.#page = undefined)));
  }

  async #makePage(): Promise<Buffer> {
    const own = await this.#registry.metrics();
    const lines: Lines[] = [];
    for (const { served, keys } of this.#shown()) lines.push(await this.#linesOf(served, keys));
    return Buffer.concat([
      ...[Buffer.from(own), VALUE_HEAD, ...lines.map(({ values }) => values)],
      ...[QUANTILE_HEAD, ...lines.map(({ quantiles }) => quantiles)],
    ]);
  }

  /** Counts a request that is not about events: how many requests bring events is not told. */
  read(route: string, status: number): void {
    this.#reads.inc({ route, status });
  }

  *#shown(): Iterable<{ readonly served: ServedMetric; readonly keys: readonly string[] }> {
    let left = MOST_SERIES;
    for (const served of this.#service.metrics.values()) {
      if (served.config.options === undefined) continue;
      yield { served, keys: served.config.keys.slice(0, left) };
      left = Math.max(0, left - served.config.keys.length);
    }
  }

  #linesOf({ config: metric }: ServedMetric, keys: readonly string[]): Promise<Lines> {
    const version = this.#service.version(metric.name);
    const known = this.#lines.get(metric.name);
    if (known?.version === version) return known.lines;
    const lines = this.#make(metric, keys);
    lines.catch(() => this.#lines.delete(metric.name));
    this.#lines.set(metric.name, { version, lines });
    return lines;
  }

  async #make({ name, type, every, over }: ServedMetric["config"], keys: readonly string[]): Promise<Lines> {
    const asked = type === "histogram" ? { quantiles: LIVE_QUANTILES } : {};
    const made: Texts[] = [];
    for (const key of keys) {
      const labels = `metric="${escaped(name)}",key="${escaped(key)}"`;
      made.push(
        linesOf(labels, (await this.#service.ask(name, key, { last: over ?? every }, asked)) as Answer),
      );
    }
    return {
      values: Buffer.from(made.map(({ values }) => values).join("")),
      quantiles: Buffer.from(made.map(({ quantiles }) => quantiles).join("")),
    };
  }
}

interface Texts {
  readonly values: string;
  readonly quantiles: string;
}

/** Lines of a metric as they are sent: to encode them for every reader would take longer than all other work. */
interface Lines {
  readonly values: Buffer;
  readonly quantiles: Buffer;
}

function linesOf(labels: string, answer: Answer): Texts {
  const { total, quantiles = [] } = answer as Partial<HistogramAnswer>;
  return {
    values: boundsOf("brume_value", labels, total === undefined ? (answer as Bounds) : total),
    quantiles: quantiles
      .map((quantile) => boundsOf("brume_quantile", `${labels},quantile="${quantile.p}"`, quantile))
      .join(""),
  };
}

interface Bounds {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

const VALUE_HEAD = Buffer.from(`
# HELP brume_value The number of the newest published period: of a histogram its total. bound: estimate, low or high.
# TYPE brume_value gauge
`);
const QUANTILE_HEAD = Buffer.from(`
# HELP brume_quantile Of a histogram: percentiles of the newest published period.
# TYPE brume_quantile gauge
`);

/** A line for each bound; none where there is no value. */
function boundsOf(name: string, labels: string, bounds: Bounds | null): string {
  if (bounds === null || bounds.value === null) return "";
  return Object.entries({ estimate: bounds.value, low: bounds.low, high: bounds.high })
    .map(([bound, x]) => (x === null ? "" : `${name}{${labels},bound="${bound}"} ${x}\n`))
    .join("");
}

/** A label's value in Prometheus's text format. */
const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
