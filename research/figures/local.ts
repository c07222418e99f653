/** Runs a job in the local model: ToPL, with the paper's ways to find θ or with ours. */
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import type { PaperTuning } from "../../src/local/paper/settings.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import type { Answers } from "./central.js";
import type { LocalJob, LocalMethod } from "./job.js";

const METHODS: Readonly<Record<LocalMethod, PaperTuning>> = {
  SW: { estimator: "ems", tail: "whole", objective: "paper" },
  "SW-W": { tail: "paper", objective: "paper" },
  default: {},
};

/** @param values hold-out first */
export async function runLocal(job: LocalJob, values: Float64Array): Promise<Answers> {
  const { epsilon, learnEpsilon, max, holdout, maxRange, method } = job;
  const server = new PaperAggregator({
    ...{ epsilon, max, holdout, maxRange },
    tuning: { learnEpsilon, ...METHODS[method] },
  });
  // The same reports for every method.
  const device = (phase: string) => ({
    max,
    unsafeSeed: `${job.seed}, ${learnEpsilon}, run ${job.run}, ${phase}`,
  });
  server.learn(
    reporter({ variant: "paper", ...device("learn"), phase: "learn", epsilon: learnEpsilon }).reportMany(
      values.subarray(0, holdout),
    ),
  );
  const theta = await server.threshold();
  server.release(
    reporter({
      variant: "paper",
      ...device("release"),
      phase: "release",
      epsilon,
      threshold: theta,
    }).reportMany(values.subarray(holdout)),
  );
  return { theta, sum: (from, to) => server.range(from, to).sum };
}
