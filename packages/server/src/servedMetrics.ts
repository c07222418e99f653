/** The metrics of a config as a service has them: as the hub takes them, and those of devices as sections of the hub. */
import type { EventHub, EventHubOptions } from "brume";
import { type ResolvedMetric, metricsOf } from "./config/metrics.js";
import type { Config } from "./config/types.js";
import { LocalMetric } from "./localMetric.js";

/** A metric as the service has it. */
export interface ServedMetric {
  readonly config: ResolvedMetric;
  readonly local: LocalMetric | undefined;
}

/**
 * @param now the time as the service goes by it
 * @param onChosen told that a metric of devices has chosen θ, which is to be stored
 */
export function servedMetrics(
  config: Config,
  now: () => number,
  onChosen: (name: string) => void,
): Map<string, ServedMetric> {
  return new Map(
    metricsOf(config).map((metric) => {
      const { name } = metric;
      const local =
        metric.local === undefined
          ? undefined
          : new LocalMetric(metric, config.zone ?? "UTC", now, () => onChosen(name));
      return [name, { config: metric, local }];
    }),
  );
}

/** Metrics as the hub takes them. */
export function hubMetrics(metrics: ReadonlyMap<string, ServedMetric>): EventHubOptions["metrics"] {
  return Object.fromEntries(
    [...metrics.values()].flatMap(({ config: { name, options, keys, discovers } }) =>
      options === undefined ? [] : [[name, { ...options, keys: discovers ?? keys }]],
    ),
  );
}

/** Takes up the keys that are public now, of metrics that discover them. */
export async function followKeys(metrics: Map<string, ServedMetric>, hub: EventHub): Promise<void> {
  for (const [name, served] of metrics)
    if (served.config.discovers !== undefined) {
      const keys = await hub.keys(name);
      metrics.set(name, { ...served, config: { ...served.config, keys } });
    }
}
