/**
 * The table and the picture of docs/performance.md, from figures that the commands beside them measured; research/notes has
 * the runs.
 */
import type { Panel, Series } from "../../research/chart/panel.js";
import { svgOf } from "../../research/chart/svg.js";
import { markdown } from "./tables.js";

interface Speed {
  readonly what: string;
  readonly speed: string;
  readonly memory?: string;
  readonly command: string;
}

const bench = (names: string): string => `npm run bench -- --only ${names}`;

/** Bytes of memory that a key takes: at noon, and of 64 buckets by the minute before midnight, when it is most. */
const BYTES = {
  "counter, hours": 800,
  "counter, minutes": 1700,
  "64 buckets, hours": 3600,
  "64 buckets, minutes": 65_000,
};
/** Events that one process stores in a second. */
const EVENTS = { "hub, SQLite": 166_000, "hub, files": 320_000, service: 75_000, "Kafka worker": 330_000 };

const thousands = (x: number): string => Math.round(x).toLocaleString("en");
const kilobytes = (name: keyof typeof BYTES): string => `${(BYTES[name] / 1000).toFixed(1)} KB`;

const SPEEDS: readonly Speed[] = [
  {
    what: "`push` of a value, default blocks",
    speed: "11 ns",
    memory: "13 KB a stream, however long it is",
    command: bench("push"),
  },
  { what: "`pushMany`: 65,536 held out and 2²⁰ published", speed: "3.4 ms", command: bench("release") },
  {
    what: "`add` to a counter, to 64 buckets",
    speed: "11 ns, 48 ns",
    memory: `${kilobytes("counter, hours")} and ${kilobytes("64 buckets, hours")} a key by the hour`,
    command: bench("events"),
  },
  {
    what: "the same with a limit per person",
    speed: "0.5 µs",
    memory: "36 bytes a person and day",
    command: bench("events"),
  },
  {
    what: "a hub: events stored, SQLite and files",
    speed: `${thousands(EVENTS["hub, SQLite"])}/s and ${thousands(EVENTS["hub, files"])}/s`,
    memory: "1.7 KB a key by the minute",
    command: bench("event-hub"),
  },
  {
    what: "the service, batches of 100 over HTTP",
    speed: `${thousands(EVENTS.service)} events/s`,
    command: "npm run measure -- service-load",
  },
  {
    what: "a Kafka worker",
    speed: `${thousands(EVENTS["Kafka worker"])} values/s`,
    memory: "0.7 KB of state a stream",
    command: "npm run bench -- kafka",
  },
  {
    what: "reports of devices, in batches; EM of 65,536",
    speed: "6 ns a report; 1.7 ms",
    command: bench("reports,em-run"),
  },
  {
    what: "`brume release`, plain lines",
    speed: "16 million lines/s",
    memory: "89 MB",
    command: bench("cli"),
  },
  { what: '`import "brume"` in Node', speed: "31 ms", command: bench("start") },
];

export const speedTable = (): string =>
  markdown(
    ["what", "speed", "memory", "command"],
    SPEEDS.map(({ what, speed, memory = "", command }) => [what, speed, memory, `\`${command}\``]),
  );

const lines = (
  of: Readonly<Record<string, number>>,
  at: readonly number[],
  y: (x: number, unit: number) => number,
): Series[] =>
  Object.entries(of).map(([name, unit]) => ({ name, points: at.map((x) => ({ x, y: y(x, unit) })) }));

/** docs/figures/size.svg: how much memory keys take, and how much of a process events take. */
export function sizePicture(): string {
  const memory: Panel = {
    title: "memory of a hub or service",
    x: { label: "keys", log: true },
    y: { label: "MB", log: true },
    series: lines(BYTES, [10, 100, 1000, 10_000, 100_000], (keys, bytes) => (keys * bytes) / 1e6),
  };
  const load: Panel = {
    title: "how busy one process is",
    x: { label: "events a second", log: true },
    y: { label: "% of what it can store", log: true },
    series: lines(EVENTS, [100, 1000, 10_000, 50_000], (events, most) => (100 * events) / most).map(
      (series, i) => ({
        ...series,
        colour: i + 4,
      }),
    ),
  };
  return svgOf("How large a hub is, and how busy", [memory, load]);
}
