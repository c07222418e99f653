/** Makes hubs: many streams in one process. With `metrics` a hub takes events at times, without them values. */
import { EventHub } from "./eventHub/eventHub.js";
import { type EventHubOptions, type Metric, resolveEventHub } from "./eventHub/eventHubOptions.js";
import { Hub } from "./hub/hub.js";
import { type HubOptions, resolveHub } from "./hub/hubOptions.js";

/**
 * Makes a hub. With `metrics`, it counts, sums, averages and sorts events for the keys of every metric. Without, it has a
 * stream of values for every name, and the options of `privateStream` hold for each of them.
 */
export function openHub<const M extends Record<string, Metric>>(options: EventHubOptions<M>): EventHub<M>;
export function openHub(options: HubOptions): Hub;
export function openHub(options: HubOptions | EventHubOptions): Hub | EventHub {
  return typeof options === "object" &&
    (options as object | null) !== null &&
    Object.hasOwn(options, "metrics")
    ? new EventHub(resolveEventHub(options as EventHubOptions))
    : new Hub(resolveHub(options as HubOptions));
}
