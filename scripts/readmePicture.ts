/**
 * Draws docs/figures/stream.svg, the picture of the README:
 *
 *     npm run docs -- picture
 *
 * The built-in example through the library at its defaults, with a fixed seed so that the picture can be made again.
 */
import { writeFileSync } from "node:fs";
import type { Panel } from "../research/chart/panel.js";
import { svgOf } from "../research/chart/svg.js";
import { EXAMPLE, exampleStream } from "../src/cli/example.js";
import { privateStream } from "../src/index.js";

const EPSILON = 0.1;
const HOLDOUT = 65_536;
const HOUR = 3600;
const MINUTES = 20;

const values = exampleStream("brume").subarray(0, HOLDOUT + 5 * 24 * HOUR);
const stream = privateStream({ epsilon: EPSILON, max: EXAMPLE.max, holdout: HOLDOUT, unsafeSeed: "picture" });
const published = stream.pushMany(values);
const secret = values.subarray(HOLDOUT);

/** Ten seconds apart, from one hour into the third day. */
const start = 49 * HOUR;
const moments = Array.from({ length: MINUTES * 6 }, (_, i) => start + 10 * i);
const closeUp: Panel = {
  title: `${MINUTES} minutes, value by value`,
  x: { label: "minute" },
  y: { label: "queries a second" },
  series: [
    { name: "secret", colour: 5, points: moments.map((at) => ({ x: (at - start) / 60, y: secret[at]! })) },
    {
      name: "published",
      colour: 0,
      points: moments.map((at) => ({ x: (at - start) / 60, y: published[at]! })),
    },
  ],
};

const hours = Array.from({ length: 96 }, (_, hour) => hour);
const mean = (hour: number) =>
  secret.subarray(hour * HOUR, (hour + 1) * HOUR).reduce((sum, value) => sum + value, 0) / HOUR;
const overview: Panel = {
  title: `four days, hourly means, ε = ${EPSILON}`,
  x: { label: "hour" },
  y: { label: "queries a second" },
  series: [
    { name: "secret", colour: 5, points: hours.map((hour) => ({ x: hour, y: mean(hour) })) },
    {
      name: "published",
      colour: 0,
      look: "dashed",
      points: hours.map((hour) => ({ x: hour, y: stream.range(hour * HOUR, (hour + 1) * HOUR).mean })),
    },
  ],
};

writeFileSync(
  "docs/figures/stream.svg",
  svgOf("Secret values and what Brume publishes", [closeUp, overview]),
);
