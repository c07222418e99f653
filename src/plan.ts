/** The public function that plans a release of values or of events. */
import { isEvents } from "./events/kinds.js";
import type { AnyEventOptions } from "./events/options.js";
import { type EventPlan, planEvents } from "./events/plan.js";
import type { StreamOptions } from "./stream/options.js";
import { type Plan, planValues } from "./stream/plan.js";

/** Error and memory of a release, from its options alone. */
export function plan(options: AnyEventOptions): EventPlan;
export function plan(options: StreamOptions): Plan;
export function plan(options: StreamOptions | AnyEventOptions): Plan | EventPlan {
  return isEvents(options) ? planEvents(options) : planValues(options);
}
