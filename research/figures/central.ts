/** Runs a job in the central model: ToPS or a system it is compared with. */
import { comparison, system, type SystemOptions } from "../systems/index.js";
import { rankOf } from "../systems/percentiles.js";
import type { System } from "../../src/stream/system.js";
import { chooseCore } from "../../src/core/choose.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { given } from "../../src/core/given.js";
import type { CentralJob, Rule } from "./job.js";
import type { Stream } from "./jobStream.js";

export interface Answers {
  readonly theta: number;
  readonly sum: (from: number, to: number) => number;
}

/** Eq. 6 is made for the hierarchy of ToPS. */
const FANOUT = 16;

export function runCentral(job: CentralJob, stream: Stream): Answers {
  const publisher = job.rule === undefined ? system(optionsOf(job)) : withRule(job, job.rule, stream);
  publisher.pushMany(stream.values);
  return {
    theta: publisher.statement().threshold ?? NaN,
    sum: (from, to) => publisher.range(from, to, { answer: job.answer }).sum,
  };
}

const seedOf = ({ seed, run, method, epsilon }: CentralJob) => `${seed}, ${method}, ${epsilon}, run ${run}`;

function optionsOf(job: CentralJob): SystemOptions {
  const { method, epsilon, max, holdout, maxRange, variant, skipLevels, smoother, threshold } = job;
  return {
    ...{ method, epsilon, max, holdout, maxRange, variant },
    unsafeSeed: seedOf(job),
    ...given({ smoother, threshold }),
    tuning: given({ skipLevels }),
  } as SystemOptions; // too many methods for the compiler to try each
}

/** S-PAK's θ may be far above B and S-P's 0: the bound follows the one, and 0 publishes zeros. */
function withRule(job: CentralJob, rule: Rule, stream: Stream): System {
  const theta = thetaBy(rule, job, stream);
  if (theta < 1) return system(optionsOf({ ...job, method: "base" }));
  const max = Math.max(job.max, theta);
  const resolution = 2 ** Math.max(0, Math.ceil(Math.log2(max / 2 ** 20)));
  const options = optionsOf({ ...job, max, threshold: theta });
  return system({ ...options, tuning: { ...options.tuning, resolution } });
}

export function thetaBy(rule: Rule, job: CentralJob, stream: Stream): number {
  const { read } = stream;
  if (rule.name === "nm-e") return noisyMax(rule, job, stream);
  if (rule.name === "percentile") return stream.sorted[rankOf(rule.percentile, read.length) - 1]!;
  const { max, maxRange } = job;
  const chooser = comparison({
    ...{ max, maxRange, holdout: read.length, unsafeSeed: `${seedOf(job)}, θ` },
    method: rule.name,
    epsilon: rule.epsilon,
  });
  chooser.pushMany(read);
  return chooser.statement().threshold!;
}

/** Noise of the max for the rule's ε, penalty of a large θ for the release's. */
function noisyMax({ epsilon, noise }: Rule & { name: "nm-e" }, job: CentralJob, { bins }: Stream): number {
  const race = makeSelection({
    candidates: job.max,
    step: 1,
    holdout: bins.length,
    epsilon,
    releaseEpsilon: job.epsilon,
    maxRange: job.maxRange,
    fanout: FANOUT,
    noise,
  });
  const random = subStream(unsafeKey(`${seedOf(job)}, θ`), Purpose.threshold, 0, 0);
  return chooseCore("auto").noisyMax(random, bins, race);
}
