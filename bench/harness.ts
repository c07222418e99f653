/** Times one hot path against its opponents in the same process, so that only ratios need to be believed. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Bench } from "tinybench";

/** One line of the benchmark. Times are milliseconds per call; `null` where there is no such contender. */
export interface Row {
  /** The hot path, as in `--only`: "laplace", "forest", … */
  readonly path: string;
  /** Work of one call: size and parameters. */
  readonly case: string;
  readonly wasmMs: number | null;
  readonly jsMs: number | null;
  readonly naiveMs: number | null;
  readonly limitMs: number | null;
  /** jsMs / wasmMs: above 1, wasm wins. */
  readonly vsJs: number | null;
  /** naiveMs / wasmMs: above 1, wasm wins. */
  readonly vsNaive: number | null;
  /** wasmMs / limitMs: 1 is as fast as the machine allows. */
  readonly vsLimit: number | null;
  /** Only for a hub: number of streams, values per second over all streams, and memory per stream. */
  readonly keys?: number;
  readonly valuesPerSecond?: number;
  /** Values per second of processor time, over all threads, which other work on the machine hardly changes. */
  readonly valuesPerProcessorSecond?: number;
  readonly bytesPerKey?: number;
  /** Memory of the whole process: at the end, or the peak of a program. */
  readonly residentBytes?: number;
  /** Only for CSV on the command line: time per byte relative to plain lines, and time relative to as many plain lines. */
  readonly timePerByteVsPlain?: number;
  readonly timeVsAsManyPlainLines?: number;
}

/** A bench file: `rows()` yields each row as soon as it is measured. */
export interface BenchFile {
  readonly rows: () => AsyncIterable<Row> | Iterable<Row>;
}

/** A timed call; `prepare` runs before each call and is not timed. A promise is awaited. */
export type Contender = (() => unknown) | { prepare(): void; run(): unknown };

export interface Question {
  readonly path: string;
  readonly case: string;
  /** The kernel as a caller pays for it, copies included. */
  readonly wasm?: Contender;
  /** The algorithm in plain TypeScript: the fair opponent. */
  readonly js?: Contender;
  /** Code that one would write first, or that others ship. */
  readonly naive?: Contender;
  /** The physical limit: memcpy of the same bytes, the platform's own random bytes. */
  readonly limit?: Contender;
}

const CONTENDERS = ["wasm", "js", "naive", "limit"] as const;

/** Turns are short and many, so that a busy moment of the machine hits all contenders, and none for long. */
const ROUNDS = 15;

/** Milliseconds of a turn. */
const TURN = 15;

/** Milliseconds before the first turn, in which a contender is compiled for what it does. */
const WARM_UP = 80;

setFlagsFromString("--expose-gc");
export const collectGarbage = runInNewContext("gc") as (options?: { type: "minor" }) => void;

/** Measures every contender of one question. */
export async function measure(question: Question): Promise<Row> {
  const [answer] = await measureTogether([question]);
  return answer!;
}

/**
 * Measures questions with common contenders: each of these is timed once, and stands in every row with the same
 * time. All are warmed up first, then take turns, each round starting with another one, after a garbage
 * collection. A time is the median over rounds of tinybench's median. Calls far below 10 µs drown in the clock:
 * loop inside the contender and say so in `case`.
 */
export async function measureTogether(questions: readonly Question[]): Promise<Row[]> {
  for (const { path, case: what } of questions) process.stderr.write(`${path}: ${what}\n`);
  const contenders = new Set(
    questions
      .flatMap((question) => CONTENDERS.map((name) => question[name]))
      .filter((one) => one !== undefined),
  );
  const order = [...contenders];
  const times = new Map(order.map((contender) => [contender, [] as number[]]));
  for (const contender of order) await turn(contender, WARM_UP);
  for (let round = 0; round < ROUNDS; round++)
    for (let i = 0; i < order.length; i++) {
      const contender = order[(i + round) % order.length]!;
      times.get(contender)!.push(await turn(contender, TURN));
    }
  const timeOf = (contender: Contender | undefined) =>
    contender === undefined ? null : median(times.get(contender)!);
  return questions.map(({ path, case: what, wasm, js, naive, limit }) =>
    row(path, what, timeOf(wasm), timeOf(js), timeOf(naive), timeOf(limit)),
  );
}

/** A row from times measured elsewhere, such as in a process of its own. */
export function row(
  path: string,
  what: string,
  wasmMs: number | null,
  jsMs: number | null,
  naiveMs: number | null,
  limitMs: number | null,
): Row {
  const [vsJs, vsNaive, vsLimit] = [ratio(jsMs, wasmMs), ratio(naiveMs, wasmMs), ratio(wasmMs, limitMs)];
  return { path, case: what, wasmMs, jsMs, naiveMs, limitMs, vsJs, vsNaive, vsLimit };
}

/** One turn of one contender: the median milliseconds of its calls. */
async function turn(contender: Contender, time: number): Promise<number> {
  // Nobody pays for another's garbage. A full collection would throw away compiled code as well.
  collectGarbage({ type: "minor" });
  const bench = new Bench({ time, iterations: 1, warmup: false, throws: true });
  if (typeof contender === "function") bench.add("turn", () => contender());
  else bench.add("turn", () => contender.run(), { beforeEach: () => contender.prepare() });
  const [task] = await bench.run();
  const result = task!.result;
  if (!("latency" in result)) throw new Error(`bench: expected a completed turn, got ${result.state}`);
  return result.latency.p50;
}

function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function ratio(above: number | null, below: number | null): number | null {
  return above === null || below === null ? null : above / below;
}

/** Time by the clock, and processor time of all threads, in milliseconds. */
export interface Taken {
  readonly ms: number;
  readonly usedMs: number;
}

export async function timed(run: () => Promise<unknown>): Promise<Taken> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(used);
  return { ms: performance.now() - start, usedMs: (user + system) / 1000 };
}

/** "50,000 values/s, 60,000 per second of processor time": the second figure holds on a busy machine, too. */
export function rates(total: number, unit: string, { ms, usedMs }: Taken): string {
  const rate = (time: number) => Math.round((total * 1000) / time).toLocaleString("en");
  return `${rate(ms)} ${unit}/s, ${rate(usedMs)} per second of processor time`;
}
