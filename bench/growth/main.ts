/**
 * `npm run bench -- --growth`: does anything grow that need not? Time and memory against the size of what comes in, the
 * exponent of each curve, and the curves themselves in docs/figures/growth.svg.
 */
import { writeFileSync } from "node:fs";
import type { Panel } from "../../research/chart/panel.js";
import { svgOf } from "../../research/chart/svg.js";
import { collectGarbage } from "../harness.js";
import { type Growth, GROWTHS } from "./series.js";

export interface GrowthPoint {
  readonly size: number;
  /** Processor time of the process, in milliseconds: the least of the turns. */
  readonly ms: number;
  /** Memory of all heaps and buffers, above that of an empty process. */
  readonly bytes: number;
}

export interface GrowthCurve {
  readonly name: string;
  readonly x: string;
  readonly points: readonly GrowthPoint[];
  /** The slopes of the curves in logarithms, over their upper halves. */
  readonly timeExponent: number;
  readonly memoryExponent: number | null;
  readonly expectedTime: number;
  readonly expectedMemory: number | null;
}

/** Turns are repeated until they took this long, so that small sizes are measured as well as large ones. */
const LEAST_MS = 60;
const MOST_TURNS = 7;

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function usedBytes({ arraysOnly = false }: Growth): number {
  for (let i = 0; i < 3; i++) collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return arraysOnly ? arrayBuffers : heapUsed + external;
}

/** Processor time and memory of one turn. A function of its own: what a turn keeps is garbage when the next one begins. */
async function measureTurn(growth: Growth, size: number): Promise<Omit<GrowthPoint, "size">> {
  const before = usedBytes(growth);
  const work = await growth.prepare(size);
  const start = usedMs();
  await work.run();
  const ms = usedMs() - start;
  const bytes = usedBytes(growth) - before;
  Reflect.get(work, "kept"); // alive until here
  return { ms, bytes };
}

async function measurePoint(growth: Growth, size: number): Promise<GrowthPoint> {
  let [ms, bytes, spent] = [Infinity, Infinity, 0];
  for (let turn = 0; turn === 0 || (turn < MOST_TURNS && spent < LEAST_MS); turn++) {
    const taken = await measureTurn(growth, size);
    [ms, bytes, spent] = [Math.min(ms, taken.ms), Math.min(bytes, taken.bytes), spent + taken.ms];
  }
  return { size, ms, bytes };
}

/** Slope of log y against log x by least squares, over the upper half of the sizes: small ones measure what is fixed. */
export function exponentOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const upper = points.slice(Math.floor(points.length / 2)).filter(({ y }) => y > 0);
  const [xs, ys] = [upper.map(({ x }) => Math.log(x)), upper.map(({ y }) => Math.log(y))];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, value, i) => sum + (value - x) * (ys[i]! - y), 0);
  return above / xs.reduce((sum, value) => sum + (value - x) ** 2, 0);
}

async function measureCurve(growth: Growth, most: number): Promise<GrowthCurve> {
  await measurePoint(growth, growth.sizes[0]!); // compiled
  const points: GrowthPoint[] = [];
  for (const size of growth.sizes.filter((one) => one <= most)) {
    process.stderr.write(`growth: ${growth.name} ${size.toLocaleString("en")}\n`);
    points.push(await measurePoint(growth, size));
  }
  const curve = (y: "ms" | "bytes") => points.map((point) => ({ x: point.size, y: point[y] }));
  return {
    ...{ name: growth.name, x: growth.x, points },
    timeExponent: exponentOf(curve("ms")),
    memoryExponent: growth.memory === undefined ? null : exponentOf(curve("bytes")),
    expectedTime: growth.time,
    expectedMemory: growth.memory ?? null,
  };
}

function panelsOf(curves: readonly GrowthCurve[]): Panel[] {
  return curves.flatMap(({ x, points, timeExponent, memoryExponent }) => {
    const panel = (y: "ms" | "bytes", label: string, exponent: number): Panel => ({
      title: `${label} ∝ n^${exponent.toFixed(2)}`,
      x: { label: x, log: true },
      y: { label, log: true },
      series: [
        {
          ...{ name: "measured", colour: 0 },
          points: points
            .filter((point) => point[y] > 0)
            .map((point) => ({ x: point.size, y: y === "ms" ? point.ms : point.bytes / 1024 })),
        },
      ],
    });
    const time = panel("ms", "milliseconds", timeExponent);
    return memoryExponent === null ? [time] : [time, panel("bytes", "KB", memoryExponent)];
  });
}

function tableOf(curves: readonly GrowthCurve[]): string {
  const exponent = (value: number | null) => (value === null ? "" : value.toFixed(2));
  const lines = curves.map(({ x, points, ...curve }) => {
    const [first, last] = [points[0]!, points.at(-1)!];
    const cells = [
      ...[x, `${first.size.toLocaleString("en")} … ${last.size.toLocaleString("en")}`],
      ...[exponent(curve.timeExponent), String(curve.expectedTime)],
      ...[exponent(curve.memoryExponent), curve.expectedMemory === null ? "" : String(curve.expectedMemory)],
      ...[`${Number(last.ms.toPrecision(3)).toLocaleString("en")} ms`],
      curve.memoryExponent === null ? "" : `${Math.round(last.bytes / 1024).toLocaleString("en")} KB`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| against | from … to | time exponent | at most | memory exponent | at most | time at the end | memory at the end |",
    "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ...lines,
  ].join("\n");
}

/**
 * Measures all curves, or those that are named.
 * @param most sizes above it are left out
 */
export async function measureGrowth(
  only: string | undefined,
  most: number,
  figure: string,
): Promise<GrowthCurve[]> {
  const names = only?.split(",") ?? GROWTHS.map(({ name }) => name);
  const unknown = names.filter((name) => !GROWTHS.some((growth) => growth.name === name));
  if (unknown.length > 0)
    throw new RangeError(
      `--only: expected ${GROWTHS.map(({ name }) => name).join(", ")}, got ${unknown.join(", ")}`,
    );
  const curves: GrowthCurve[] = [];
  for (const growth of GROWTHS.filter(({ name }) => names.includes(name)))
    curves.push(await measureCurve(growth, most));
  if (only === undefined) writeFileSync(figure, svgOf("Growth", panelsOf(curves)));
  return curves;
}

export { tableOf };
