/** All opponents on all streams of the zoo, cell by cell and row by row. */
import { given } from "../../src/core/given.js";
import { median } from "../metrics.js";
import { type KeptOptions, runKept } from "../kept.js";
import { share } from "../pool.js";
import {
  measured,
  type Measured,
  ratio,
  type StreamName,
  streamsOf,
  valuesFrom,
  type ZooSetting,
} from "../zoo/measure.js";
import { hasRule, type OpponentName, OPPONENTS } from "./list.js";
import { opponentRunner, type OpponentResult } from "./run.js";
import type { OpponentJob } from "./trial.js";

export interface OpponentsOptions
  extends
    ZooSetting,
    Pick<KeptOptions<OpponentJob, OpponentResult>, "file" | "code" | "workers" | "progress"> {
  readonly opponents: readonly OpponentName[];
}

export type ThetaColumn = OpponentJob["theta"];

/** One opponent on one stream. */
export interface OpponentCell {
  readonly opponent: OpponentName;
  readonly theta: ThetaColumn;
  readonly epsilon: number;
  readonly stream: string;
  readonly mse: Measured;
  readonly relative: number;
  readonly perValue: number;
  /** Median over runs. */
  readonly threshold: number;
  /** Mean squared error over that of the default with a θ of the same kind: below 1 it is the better one. */
  readonly ratio: Measured;
  readonly perValueRatio: number;
}

/** One opponent over all streams. */
export interface OpponentRow {
  readonly opponent: OpponentName;
  readonly theta: ThetaColumn;
  readonly epsilon: number;
  /** Geometric means over streams. */
  readonly ratio: number;
  readonly perValueRatio: number;
  /** Median over streams. */
  readonly relative: number;
  /** Streams on which it has the smaller error, and those where that is so by more than two standard errors. */
  readonly better: number;
  readonly clearlyBetter: number;
  readonly streams: number;
  /** Median over runs. */
  readonly seconds: number;
}

export interface OpponentsReport {
  readonly settings: Omit<OpponentsOptions, "file" | "code" | "workers" | "progress" | "files">;
  readonly rows: readonly OpponentRow[];
  readonly cells: readonly OpponentCell[];
  /** Bytes kept after the last value, by opponent. */
  readonly memory: Partial<Record<OpponentName, number>>;
}

/** Milliseconds that a run takes, roughly: for the time left. */
const EFFORTS: Partial<Record<OpponentName, number>> = {
  default: 15,
  paper: 15,
  zeros: 5,
  flat: 60,
  banded: 900,
};
const EFFORT = 350;
/** Runs that find the best θ where it does not follow from a variance. */
const TRIALS = 7;

export async function measureOpponents(options: OpponentsOptions): Promise<OpponentsReport> {
  const { file, code, workers, progress, files = [], ...settings } = options;
  const { groups, streams: wanted, epsilons, runs, queries, holdout, maxRange, seed } = settings;
  const streams = streamsOf(groups, files, wanted);
  const opponents = [...new Set<OpponentName>(["default", ...settings.opponents])]; // all are compared with it
  const jobOf = (
    stream: StreamName,
    opponent: OpponentName,
    theta: ThetaColumn,
    epsilon: number,
  ): OpponentJob => ({
    ...{ data: stream.data, stream: stream.name, max: stream.max, opponent, theta, epsilon },
    ...{ seed, runs, queries, holdout, maxRange },
    memory: stream === streams[0] && epsilon === epsilons[0] && theta === "best",
  });
  const columns = opponents.flatMap((opponent) =>
    epsilons.flatMap((epsilon) =>
      (["best", "rule"] as const)
        .filter((theta) => theta === "best" || hasRule(opponent))
        .map((theta) => ({ opponent, theta, epsilon })),
    ),
  );
  const jobs = streams.flatMap((stream) =>
    columns.map(({ opponent, theta, epsilon }) => jobOf(stream, opponent, theta, epsilon)),
  );
  const arrays = new Map(files.map(({ name, values }) => [name, values]));
  const resultOf = await runKept<OpponentJob, OpponentResult>(jobs, {
    ...{ file, effort: effortOf, here: opponentRunner(valuesFrom(arrays)) },
    ...given({ code, workers, progress }),
    script: new URL("./opponentsWorker.js", import.meta.url),
    workerData: () => new Map([...arrays].map(([name, values]) => [name, share(values)])),
  });

  const rows = columns.map((column) => {
    const { opponent, theta, epsilon } = column;
    const results = streams.map((stream) => resultOf(jobOf(stream, opponent, theta, epsilon)));
    const cells = streams.map((stream, i) =>
      cellOf(column, stream.name, results[i]!, resultOf(jobOf(stream, "default", theta, epsilon))),
    );
    return { row: rowOf(column, cells, results), cells };
  });
  const first = streams[0];
  const memory = opponents.flatMap((opponent) => {
    const bytes = first === undefined ? null : resultOf(jobOf(first, opponent, "best", epsilons[0]!)).memory;
    return bytes === null ? [] : [[opponent, bytes] as const];
  });
  return {
    settings,
    rows: rows.map(({ row }) => row),
    cells: rows.flatMap(({ cells }) => cells),
    memory: Object.fromEntries(memory),
  };
}

function effortOf({ opponent, theta, runs }: OpponentJob): number {
  const searches = theta === "best" && !OPPONENTS[opponent].additive;
  return (EFFORTS[opponent] ?? EFFORT) * (runs + (searches ? TRIALS : 0));
}

type Column = Pick<OpponentCell, "opponent" | "theta" | "epsilon">;

function cellOf(column: Column, stream: string, result: OpponentResult, ours: OpponentResult): OpponentCell {
  const mean = (values: readonly number[]) => measured(values).mean;
  return {
    ...column,
    stream,
    mse: measured(result.mse),
    relative: mean(result.relative),
    perValue: Math.sqrt(mean(result.perValue)),
    threshold: median(result.theta),
    ratio: ratio(measured(result.mse), measured(ours.mse))!,
    perValueRatio: mean(result.perValue) / mean(ours.perValue),
  };
}

function rowOf(
  column: Column,
  cells: readonly OpponentCell[],
  results: readonly OpponentResult[],
): OpponentRow {
  return {
    ...column,
    ratio: geometricMean(cells.map((cell) => cell.ratio.mean)),
    perValueRatio: geometricMean(cells.map((cell) => cell.perValueRatio)),
    relative: median(cells.map(({ relative }) => relative)),
    better: cells.filter((cell) => cell.ratio.mean < 1).length,
    clearlyBetter: cells.filter((cell) => cell.ratio.mean + 2 * cell.ratio.se < 1).length,
    streams: cells.length,
    seconds: median(results.flatMap(({ seconds }) => seconds)),
  };
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, x) => sum + Math.log(x), 0) / values.length);
