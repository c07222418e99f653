/** Runs a job in the central model: ToPS or a system it is compared with. */
import { type BaselineOptions, baseline, system, type SystemOptions } from "../../baselines/index.js";
import type { Publisher } from "../../central/publisher.js";
import { chooseCore } from "../../core/choose.js";
import { makeRace } from "../../core/race.js";
import { Stage, subStream } from "../../core/random.js";
import { unsafeKey } from "../../core/unsafeKey.js";
import type { CentralJob, Rule } from "./job.js";

export interface Answers {
  readonly theta: number;
  readonly sum: (from: number, to: number) => number;
}

/** Eq. 6 is made for the hierarchy of ToPS. */
const FANOUT = 16;

/** @param values hold-out first */
export function runCentral(job: CentralJob, values: Float64Array): Answers {
  const publisher = job.rule === undefined ? system(optionsOf(job)) : withRule(job, job.rule, values);
  publisher.pushMany(values);
  return {
    theta: publisher.account().threshold ?? NaN,
    sum: (from, to) => publisher.range(from, to, { answer: job.answer }).sum,
  };
}

const seedOf = ({ seed, run, method, epsilon }: CentralJob) => `${seed}, ${method}, ${epsilon}, run ${run}`;

function optionsOf(job: CentralJob): SystemOptions {
  const { method, epsilon, max, holdout, maxRange, variant, skipLevels, smoother, threshold } = job;
  return {
    method,
    epsilon,
    max,
    holdout,
    maxRange,
    variant,
    unsafeSeed: seedOf(job),
    ...(skipLevels === undefined ? {} : { skipLevels }),
    ...(smoother === undefined ? {} : { smoother }),
    ...(threshold === undefined ? {} : { threshold }),
  };
}

/** S-PAK's θ may be far above B and S-P's 0: the bound follows the one, and 0 publishes zeros. */
function withRule(job: CentralJob, rule: Rule, values: Float64Array): Publisher {
  const read = values.subarray(0, job.holdout > 0 ? job.holdout : job.maxRange);
  const theta = thetaBy(rule, job, read);
  if (theta < 1) return system(optionsOf({ ...job, method: "base" }));
  const max = Math.max(job.max, theta);
  const resolution = 2 ** Math.max(0, Math.ceil(Math.log2(max / 2 ** 20)));
  return system({ ...optionsOf({ ...job, max, threshold: theta }), resolution });
}

export function thetaBy(rule: Rule, job: CentralJob, values: Float64Array): number {
  if (rule.name === "nm-e") return noisyMax(rule, job, values);
  const { max, maxRange } = job;
  const shared = { max, maxRange, holdout: values.length, unsafeSeed: `${seedOf(job)}, θ` };
  const options: BaselineOptions =
    rule.name === "percentile"
      ? { ...shared, method: "percentile", epsilon: 1, percentile: rule.percentile, notPrivate: true }
      : { ...shared, method: rule.name, epsilon: rule.epsilon };
  const chooser = baseline(options);
  chooser.pushMany(values);
  return chooser.account().threshold!;
}

/** Noise of the max for the rule's ε, penalty of a large θ for the release's. */
function noisyMax(
  { epsilon, noise }: Rule & { name: "nm-e" },
  job: CentralJob,
  values: Float64Array,
): number {
  const race = makeRace({
    candidates: job.max,
    step: 1,
    holdout: values.length,
    epsilon,
    releaseEpsilon: job.epsilon,
    maxRange: job.maxRange,
    fanout: FANOUT,
    noise,
  });
  const bins = Uint32Array.from(values, (value) => Math.max(0, Math.ceil(value) - 1));
  const random = subStream(unsafeKey(`${seedOf(job)}, θ`), Stage.threshold, 0, 0);
  return chooseCore("auto").noisyMax(random, bins, race);
}
