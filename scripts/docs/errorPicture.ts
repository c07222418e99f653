/** docs/figures/error.svg: how well an hourly count is known, against the events in the hour. */
import type { Panel } from "../../research/chart/panel.js";
import { svgOf } from "../../research/chart/svg.js";
import { reachOf } from "./tables.js";

const EVENTS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

export function errorPicture(): string {
  const of = (title: string, every: "1h" | "1d", period: string): Panel => ({
    title,
    x: { label: "events in it", log: true },
    y: { label: "95 % interval: ± % of the count", log: true },
    series: [0.1, 0.5, 1, 4].map((epsilon) => ({
      name: `ε = ${epsilon}`,
      points: EVENTS.map((events) => ({
        x: events,
        y: (100 * reachOf({ epsilon, every, of: "count" }, period)) / events,
      })),
    })),
  });
  return svgOf("How well a count is known", [
    of("an hour, if hours and days are published", "1h", "1h"),
    of("a day, if days alone are published", "1d", "1d"),
  ]);
}
