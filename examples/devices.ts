/**
 * A million devices report one private number each; the server never sees a single one of them.
 *
 *     npm run example:devices
 *
 * The first 65 536 help to learn a threshold, the others are published. Prints the truth beside the estimate, which only an
 * example can know.
 */
import { aggregator, reporter } from "../src/index.js";

const DEVICES = 1_000_000;
const HOLDOUT = 65_536;
const EPSILON = 1;
const MAX = 2000;

/** Minutes of use per day: about 30 on most days, longer at weekends, now and then hours. Made up, the same every time. */
function minutes(i: number): number {
  const hash = Math.imul(i ^ (i >>> 15), 0x2c1b3c6d) ^ Math.imul(i + 0x9e3779b9, 0x297a2d39);
  const uniform = ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
  const weekend = Math.floor(i / 20_000) % 7 >= 5 ? 1.5 : 1;
  return Math.min(MAX, -30 * weekend * Math.log(1 - uniform));
}

const values = Float64Array.from({ length: DEVICES }, (_, i) => minutes(i));
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;

const server = aggregator({ epsilon: EPSILON, max: MAX, holdout: HOLDOUT });
// In the field each device has its own reporter; here one stands for all.
const learning = reporter({ variant: "paper", epsilon: EPSILON, max: MAX, phase: "learn" });
server.learn(learning.reportMany(values.subarray(0, HOLDOUT)));
const theta = await server.threshold();
console.log(`${seconds()}  learned θ = ${theta.toFixed(1)} from ${server.learned} reports`);

const releasing = reporter({
  variant: "paper",
  epsilon: EPSILON,
  max: MAX,
  phase: "release",
  threshold: theta,
});
const released = values.subarray(HOLDOUT);
server.release(releasing.reportMany(released));
console.log(`${seconds()}  took ${server.length} release-reports\n`);

const truth = (from: number, to: number) => released.subarray(from, to).reduce((a, b) => a + b, 0);
console.log(
  "        range             true sum      estimate   ± standard error    95 % interval          true mean  estimate",
);
for (const [from, to] of [
  [0, server.length],
  [0, 100_000],
  [400_000, 500_000],
  [900_000, 920_000],
  [500_000, 501_000],
] as const) {
  const answer = server.range(from, to);
  const { low, high } = answer;
  const sum = truth(from, to);
  const whole = (value: number, width: number) => value.toFixed(0).padStart(width);
  console.log(
    `${`${from} … ${to}`.padStart(20)}  ${whole(sum, 11)}  ${whole(answer.sum, 11)}  ± ${whole(answer.standardError, 8)}         [${whole(low, 9)}, ${whole(high, 9)}]  ${(sum / (to - from)).toFixed(2).padStart(8)}  ${answer.mean.toFixed(2).padStart(8)}`,
  );
}
console.log(`\n${server.explain()}`);
