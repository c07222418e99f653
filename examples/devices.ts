/**
 * Twenty thousand devices a day report one private number each; the server never sees a single one of them.
 *
 *     npm run example -- devices
 *
 * The first day counts every value up to `max`; from the second day on the bound θ follows the reports. On the sixth day values become
 * three times as large. Prints the truth beside the estimate, which only an example can know.
 */
import { aggregator, reporter } from "../src/index.js";

const DEVICES = 20_000;
const DAYS = 10;
const DAY = 86_400_000;
const OPTIONS = { epsilon: 1, max: 2000 };

/** Minutes of use: about 30 on most days, now and then hours. Made up, the same every time. */
function minutes(device: number, day: number): number {
  const i = device + DEVICES * day;
  const hash = Math.imul(i ^ (i >>> 15), 0x2c1b3c6d) ^ Math.imul(i + 0x9e3779b9, 0x297a2d39);
  const uniform = ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
  return Math.min(OPTIONS.max, -30 * (day < 5 ? 1 : 3) * Math.log(1 - uniform));
}

let now = Date.UTC(2026, 10, 1, 12);
const server = aggregator({ ...OPTIONS, clock: () => now });
console.log(
  "day  θ of the day  true mean  estimate   95 % interval     above θ, at most   true p95  95 % interval",
);
for (let day = 0; day < DAYS; day++, now += DAY) {
  const { threshold, until } = await server.terms(); // devices ask for it
  const values = Float64Array.from({ length: DEVICES }, (_, device) => minutes(device, day));
  // In the field each device has its own reporter; here one stands for all.
  server.add(reporter({ ...OPTIONS, threshold }).reportMany(values));
  const { mean, low, high, clipped } = server.between(until - DAY, until);
  const p95 = await server.quantile(0.95, { from: until - DAY, to: until });
  const truth = values.reduce((sum, value) => sum + value, 0) / DEVICES;
  const number = (value: number | null, width: number) => (value?.toFixed(1) ?? "–").padStart(width);
  console.log(
    `${String(day + 1).padStart(3)}  ${number(threshold, 12)}  ${number(truth, 9)}  ${number(mean, 8)}   [${number(low, 5)}, ${number(high, 6)}]   ${clipped === null ? "nothing".padStart(16) : `${(100 * clipped.high).toFixed(1)} %`.padStart(16)}   ${number(values.slice().sort()[0.95 * DEVICES]!, 8)}  [${number(p95.low, 6)}, ${number(p95.high, 6)}]`,
  );
}
const week = server.last("7d");
console.log(
  `\nLast seven days: mean ${week.mean!.toFixed(2)} in [${week.low!.toFixed(2)}, ${week.high!.toFixed(2)}], ${week.reports} reports.`,
);
console.log(`\n${server.explain()}`);
