/** The whole zoo: every stream at every ε, compared cell by cell with the paper's variant and with the first default. */
import { createHash } from "node:crypto";
import { meanAndSd, median, tile } from "../metrics.js";
import { type KeptOptions, runKept } from "../kept.js";
import { share } from "../pool.js";
import { toStill } from "./paired.js";
import { recordedCell, type RecordedCell } from "./recorded.js";
import { type ValuesOf, type ZooJob, type ZooResult, zooRunner, type ZooSystem } from "./run.js";
import { ZOO, type ZooGroup, zooMax, zooStream, ZOO_VERSION } from "./zoo.js";

/** Numbers of a real file. */
export interface ZooFile {
  readonly name: string;
  readonly max: number;
  readonly values: Float64Array;
}

/** Which streams are run, how often and in which setting. */
export interface ZooSetting {
  readonly groups: readonly ZooGroup[];
  readonly files?: readonly ZooFile[];
  /** Only these streams. */
  readonly streams?: readonly string[];
  readonly epsilons: readonly number[];
  readonly runs: number;
  readonly queries: number;
  readonly holdout: number;
  readonly maxRange: number;
  readonly seed: string;
}

export interface ZooOptions
  extends ZooSetting, Pick<KeptOptions<ZooJob, ZooResult>, "file" | "code" | "workers" | "progress"> {
  /** Systems that run. Without "paper", its recorded figures are compared with. */
  readonly systems: readonly ZooSystem[];
}

/** A mean over runs and its standard error. */
export interface Measured {
  readonly mean: number;
  readonly se: number;
}

export interface ZooCell {
  readonly stream: string;
  readonly epsilon: number;
  readonly answers: Measured;
  readonly published: Measured;
  readonly theta: number;
  readonly skipLevels: number;
  readonly clampedCoverage: Measured;
  readonly trueCoverage: Measured;
  readonly hiddenCoverage: Measured;
  /** Our mean squared error over theirs: of answers, and of published sums. */
  readonly ratios: Partial<Record<Comparison, Measured>>;
}
export type Comparison =
  | "answers to paper"
  | "published to paper"
  | "answers to first"
  | "published to first"
  | "answers to still"
  | "published to still";
const COMPARISONS: readonly Comparison[] = [
  ...(["answers to paper", "published to paper", "answers to first", "published to first"] as const),
  ...(["answers to still", "published to still"] as const),
];

export interface ZooSummary {
  readonly comparison: Comparison;
  readonly cells: number;
  /** Geometric mean of the ratios. */
  readonly mean: number;
  readonly worst: { readonly stream: string; readonly epsilon: number; readonly ratio: Measured };
  /** Cells above 1.15, and those that are above it by more than two standard errors. */
  readonly above: number;
  readonly clearlyAbove: number;
}

export interface ZooReport {
  readonly settings: Omit<ZooOptions, "file" | "code" | "workers" | "progress" | "files">;
  readonly summary: readonly ZooSummary[];
  /** Lowest and highest coverage of 95 % intervals for clamped sums among the cells. */
  readonly coverage: { readonly lowest: number; readonly highest: number };
  readonly cells: readonly ZooCell[];
}

const LIMIT = 1.15;

/** Files by name, built-in streams otherwise. */
export const valuesFrom =
  (files: ReadonlyMap<string, Float64Array>): ValuesOf =>
  (name, length) => {
    const file = files.get(name);
    return file === undefined ? zooStream(name, length) : tile(file, length);
  };

export interface StreamName {
  readonly name: string;
  readonly max: number;
  /** Version of the zoo, or for a file the digest of its values. */
  readonly data: string | number;
}

/** @param wanted only these */
export function streamsOf(
  groups: readonly ZooGroup[],
  files: readonly ZooFile[],
  wanted: readonly string[] | undefined,
): StreamName[] {
  const built = groups.flatMap((group) => Object.keys(ZOO[group]));
  return [
    ...built.map((name) => ({ name, max: zooMax(name), data: ZOO_VERSION })),
    ...files.map(({ name, max, values }) => ({ name, max, data: digestOf(values) })),
  ].filter(({ name }) => wanted === undefined || wanted.includes(name));
}

export async function measureZoo(options: ZooOptions): Promise<ZooReport> {
  const { file, code, workers, progress, files = [], ...settings } = options;
  const { groups, streams: wanted, systems, epsilons, runs, queries, holdout, maxRange, seed } = settings;
  const streams = streamsOf(groups, files, wanted);
  const jobOf = (stream: StreamName, system: ZooSystem, epsilon: number): ZooJob => ({
    ...{ data: stream.data, stream: stream.name, max: stream.max, system, epsilon },
    ...{ seed, runs, queries, holdout, maxRange },
  });
  const jobs = streams.flatMap((stream) =>
    systems.flatMap((system) => epsilons.map((epsilon) => jobOf(stream, system, epsilon))),
  );
  const arrays = new Map(files.map(({ name, values }) => [name, values]));
  const resultOf = await runKept<ZooJob, ZooResult>(jobs, {
    ...{ file, effort: () => 1, here: zooRunner(valuesFrom(arrays)) },
    ...(code === undefined ? {} : { code }),
    ...(workers === undefined ? {} : { workers }),
    ...(progress === undefined ? {} : { progress }),
    script: new URL("./zooWorker.js", import.meta.url),
    workerData: () => new Map([...arrays].map(([name, values]) => [name, share(values)])),
  });
  const usual = holdout === 65536 && maxRange === 2 ** 20;
  const cells = streams.flatMap((stream) =>
    epsilons.map((epsilon) => {
      const recorded = usual ? recordedCell(stream.name, epsilon) : undefined;
      const paper = systems.includes("paper") ? resultOf(jobOf(stream, "paper", epsilon)) : undefined;
      return cellOf(
        { stream: stream.name, epsilon },
        resultOf(jobOf(stream, "default", epsilon)),
        paper === undefined ? recorded?.paper : measured(paper.published),
        recorded,
        systems.includes("still") ? resultOf(jobOf(stream, "still", epsilon)) : undefined,
      );
    }),
  );
  return {
    settings,
    summary: COMPARISONS.flatMap((by) => summaryOf(by, cells)),
    coverage: coverageOf(cells),
    cells,
  };
}

const digestOf = (values: Float64Array): string =>
  createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex").slice(0, 16);

export function measured(values: readonly number[]): Measured {
  const { mean, sd } = meanAndSd(values);
  return { mean, se: sd / Math.sqrt(values.length) };
}

/** Relative errors of independent means add up in squares. */
export function ratio(ours: Measured, theirs: Measured | undefined): Measured | undefined {
  if (theirs === undefined) return undefined;
  const mean = ours.mean / theirs.mean;
  return { mean, se: mean * Math.hypot(ours.se / ours.mean, theirs.se / theirs.mean) };
}

function cellOf(
  at: Pick<ZooCell, "stream" | "epsilon">,
  run: ZooResult,
  paper: Measured | undefined,
  recorded: RecordedCell | undefined,
  still: ZooResult | undefined,
): ZooCell {
  const [answers, published] = [measured(run.answers), measured(run.published)];
  const ratios = {
    "answers to paper": ratio(answers, paper),
    "published to paper": ratio(published, paper),
    "answers to first": ratio(answers, recorded?.answers),
    "published to first": ratio(published, recorded?.published),
    "answers to still": still && toStill(run, still, "answers"),
    "published to still": still && toStill(run, still, "published"),
  };
  return {
    ...at,
    answers,
    published,
    theta: median(run.theta),
    skipLevels: median(run.skipLevels),
    clampedCoverage: measured(run.clampedCoverage),
    trueCoverage: measured(run.trueCoverage),
    hiddenCoverage: measured(run.hiddenCoverage),
    ratios: Object.fromEntries(Object.entries(ratios).filter(([, value]) => value !== undefined)),
  };
}

function summaryOf(comparison: Comparison, cells: readonly ZooCell[]): ZooSummary[] {
  const found = cells.flatMap(({ stream, epsilon, ratios }) => {
    const ratio = ratios[comparison];
    return ratio === undefined ? [] : [{ stream, epsilon, ratio }];
  });
  if (found.length === 0) return [];
  const logs = found.map(({ ratio }) => Math.log(ratio.mean));
  return [
    {
      comparison,
      cells: found.length,
      mean: Math.exp(logs.reduce((sum, x) => sum + x, 0) / logs.length),
      worst: found.reduce((worst, cell) => (cell.ratio.mean > worst.ratio.mean ? cell : worst)),
      above: found.filter(({ ratio }) => ratio.mean > LIMIT).length,
      clearlyAbove: found.filter(({ ratio }) => ratio.mean - 2 * ratio.se > LIMIT).length,
    },
  ];
}

function coverageOf(cells: readonly ZooCell[]): ZooReport["coverage"] {
  const means = cells.map(({ clampedCoverage }) => clampedCoverage.mean);
  return { lowest: Math.min(...means), highest: Math.max(...means) };
}
