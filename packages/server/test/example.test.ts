/** The example tells a true story: a daily wave, an hour of trouble, and limits of a person that hide neither. */
import { expect, test } from "vitest";
import { eventsOfMinute, type ExampleEvent, METRICS } from "../example/events.js";
import { exampleStream } from "../../../src/cli/example.js";

const MINUTE = 60_000;
const DAY = Date.UTC(2026, 2, 2);
const rates = exampleStream("service", 86_400);
const hours = Array.from({ length: 24 }, (_, hour) =>
  Array.from({ length: 60 }, (_, i) =>
    eventsOfMinute(rates, DAY + (60 * hour + i) * MINUTE, 60 * hour + i),
  ).flat(),
);

/** The share of a metric's events that the limits of the config drop. */
function dropped(name: string): number {
  const { perPerson } = METRICS[name]!;
  const { events: most, perHour = Infinity } =
    typeof perPerson === "number"
      ? { events: perPerson }
      : (perPerson as { events: number; perHour?: number });
  const inDay = new Map<string, number>();
  let [all, lost] = [0, 0];
  for (const events of hours) {
    const inHour = new Map<string, number>();
    for (const { metric, person } of events) {
      if (metric !== name) continue;
      const [day, hour] = [inDay.get(person) ?? 0, inHour.get(person) ?? 0];
      all++;
      if (day >= most || hour >= perHour) lost++;
      else {
        inDay.set(person, day + 1);
        inHour.set(person, hour + 1);
      }
    }
  }
  return lost / all;
}

test("limits of a person drop less than one event in a hundred", () => {
  for (const name of Object.keys(METRICS)) expect(dropped(name), name).toBeLessThan(0.01);
});

test("days are busier than nights, and one hour of the day has fewer and slower requests", () => {
  const count = (hour: number) => hours[hour]!.filter(({ metric }) => metric === "requests").length;
  expect(count(16)).toBeGreaterThan(3 * count(3));
  expect(count(14)).toBeLessThan(0.6 * Math.min(count(13), count(15)));
  const p95 = (hour: number): number => {
    const isHome = ({ metric, key }: ExampleEvent) => metric === "latency" && key === "home";
    const values = hours[hour]!.filter(isHome).map(({ value }) => value!);
    return values.sort((a, b) => a - b)[Math.floor(0.95 * values.length)]!;
  };
  expect(p95(14)).toBeGreaterThan(2 * p95(13));
});
