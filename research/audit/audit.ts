/** Audits a mechanism: many runs on neighbouring inputs, an attack, and a verdict on the ε it claims. */
import { checkChoice, checkInteger, checkPositive } from "../../src/core/checks.js";
import { chooseCore } from "../../src/core/choose.js";
import type { Core } from "../../src/core/core.js";
import { given } from "../../src/core/given.js";
import { type Random, secretKey, Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { attack, type Finding, type Observations } from "./attack.js";
import { type Break, brokenCore } from "./breaks.js";
import type { MakeTargets, Target, World } from "./target.js";
import { counter, events, histogram, hubPeople, mean, perPerson } from "./targets/events.js";
import { discovery, discoveryDelta } from "./targets/discovery.js";
import { forest } from "./targets/forest.js";
import { limit } from "./targets/limit.js";
import { laplace } from "./targets/laplace.js";
import { hm, pm, sr, sw } from "./targets/local.js";
import { noisyMax } from "./targets/noisyMax.js";
import { GAUSSIAN_DELTA, GAUSSIAN_TARGETS, OPPONENT_TARGETS } from "./targets/opponents.js";
import { following } from "./targets/following.js";
import { people } from "./targets/people.js";
import { probe } from "./targets/probe.js";
import { refining } from "./targets/refining.js";
import { choice, tops } from "./targets/stream.js";

type Kind = Break["kind"];

interface Subject {
  readonly makeTargets: MakeTargets;
  /** Runs on each input, unless asked otherwise: a few seconds. */
  readonly samples: number;
  /** Breaks that are caught at this number of runs (docs/audit.md says how much less noise). */
  readonly breaks: readonly Kind[];
  /** Whether the noise is another one than Laplace noise: less of it means a mechanism for a larger ε. */
  readonly local?: true;
  /** δ of the claim, if it has one. @param epsilon of the claim */
  readonly delta?: (epsilon: number) => number;
}

const local = (makeTargets: MakeTargets): Subject => ({
  makeTargets,
  samples: 1_000_000,
  breaks: ["scale"],
  local: true,
});

/** Systems of comparison, a few seconds each. */
const opponent = (makeTargets: MakeTargets): Subject => ({ makeTargets, samples: 40_000, breaks: ["scale"] });
const gaussian = (makeTargets: MakeTargets): Subject => ({
  ...opponent(makeTargets),
  local: true,
  delta: () => GAUSSIAN_DELTA,
});

const each = <K extends string>(
  targets: Readonly<Record<K, MakeTargets>>,
  subject: (makeTargets: MakeTargets) => Subject,
): Record<K, Subject> =>
  Object.fromEntries(
    Object.entries<MakeTargets>(targets).map(([name, makeTargets]) => [name, subject(makeTargets)]),
  ) as Record<K, Subject>;

const SUBJECTS = {
  laplace: { makeTargets: laplace, samples: 1_000_000, breaks: ["scale", "float"] },
  "noisy-max": { makeTargets: noisyMax, samples: 100_000, breaks: ["scale"] },
  forest: { makeTargets: forest, samples: 100_000, breaks: ["scale", "float", "skip-node"] },
  tops: { makeTargets: tops, samples: 80_000, breaks: ["scale", "float", "skip-node"] },
  choice: { makeTargets: choice, samples: 80_000, breaks: ["scale"] },
  probe: { makeTargets: probe, samples: 80_000, breaks: ["scale"] },
  following: { makeTargets: following, samples: 80_000, breaks: ["scale", "float"] },
  refining: { makeTargets: refining, samples: 80_000, breaks: ["scale", "tree-scale", "choice-scale"] },
  counter: { makeTargets: counter, samples: 80_000, breaks: ["scale", "float", "skip-node"] },
  events: { makeTargets: events, samples: 80_000, breaks: ["scale", "float", "skip-node"] },
  mean: { makeTargets: mean, samples: 80_000, breaks: ["scale", "skip-node"] },
  "per-person": { makeTargets: perPerson, samples: 80_000, breaks: ["scale", "float", "skip-node"] },
  "hub-people": { makeTargets: hubPeople, samples: 80_000, breaks: ["scale", "skip-node"] },
  people: { makeTargets: people, samples: 80_000, breaks: ["scale", "float", "counted-again"] },
  discovery: { makeTargets: discovery, samples: 80_000, breaks: ["scale"], delta: discoveryDelta },
  limit: { makeTargets: limit, samples: 80_000, breaks: ["scale"] },
  histogram: { makeTargets: histogram, samples: 80_000, breaks: ["scale", "float", "skip-node"] },
  sr: local(sr),
  pm: local(pm),
  hm: local(hm),
  sw: local(sw),
  ...each(OPPONENT_TARGETS, opponent),
  ...each(GAUSSIAN_TARGETS, gaussian),
} as const satisfies Record<string, Subject>;

export type MechanismName = keyof typeof SUBJECTS;
export const MECHANISM_NAMES = Object.keys(SUBJECTS) as readonly MechanismName[];

/** Breaks that a mechanism's audit takes. */
export const breaksOf = (mechanism: MechanismName): readonly Kind[] => SUBJECTS[mechanism].breaks;

export interface AuditOptions {
  readonly mechanism: MechanismName;
  /** The ε that the mechanism claims. */
  readonly epsilon: number;
  /** Runs on each of the two inputs, half of them to find an event. Default: what takes a few seconds. */
  readonly samples?: number;
  readonly break?: Break | undefined;
  /** Makes the audit repeatable. Default: fresh randomness. */
  readonly unsafeSeed?: string | undefined;
  readonly core?: Core;
  /** Called with all runs of each attack, for other testers. */
  readonly dump?: (samples: AuditSamples) => void;
  /** Called now and then with the runs done so far and in all. */
  readonly progress?: (done: number, all: number) => void;
}

/** Runs on two neighbouring inputs. */
export interface AuditSamples {
  /** Difference between the two inputs, in words. */
  readonly name: string;
  /** The numbers of a row. */
  readonly features: readonly string[];
  /** Rows of the first and of the second input, one after the other. */
  readonly rows: readonly [Float64Array, Float64Array];
}

export interface Audit {
  readonly mechanism: MechanismName;
  readonly claimed: number;
  /** The δ of the claim; 0 if it is pure. */
  readonly delta: number;
  /** The ε that the attack has shown, with this confidence. */
  readonly lowerBound: number;
  readonly confidence: number;
  /** Runs on each input. */
  readonly samples: number;
  readonly verdict: "consistent" | "violation";
  /** The event that told the two inputs apart best. */
  readonly event: string;
}

/** A false alarm comes once in a million audits of a mechanism that keeps its promise, or less often. */
const ALPHA = 1e-6;
const RUNS_AT_ONCE = 8192;

export function audit(asked: AuditOptions): Audit {
  const options = given(asked) as AuditOptions;
  const mechanism = checkChoice("mechanism", options.mechanism, MECHANISM_NAMES);
  const claimed = checkPositive("epsilon", options.epsilon);
  const subject: Subject = SUBJECTS[mechanism];
  const samples = checkInteger("samples", options.samples ?? subject.samples, 100, 2 ** 26);
  const delta = subject.delta?.(claimed) ?? 0;
  const targets = targetsOf(mechanism, subject, claimed, options.core ?? chooseCore(), options.break);
  const key = options.unsafeSeed === undefined ? secretKey() : unsafeKey(options.unsafeSeed);

  const all = targets.reduce((sum, target) => sum + 2 * runsOf(target, samples), 0);
  let done = 0;
  const findings = targets.map((target, i) => {
    const [first, second] = ([0, 1] as const).map((world) =>
      observe(target, world, runsOf(target, samples), subStream(key, Purpose.baseline, world, i), (runs) =>
        options.progress?.((done += runs), all),
      ),
    );
    options.dump?.({ name: target.name, features: target.features, rows: [first!.rows, second!.rows] });
    // Bonferroni: all bounds hold together with the confidence asked for.
    return { target, ...attack(first!, second!, ALPHA / targets.length, delta) };
  });
  const worst = findings.reduce((a, b) => (b.lowerBound > a.lowerBound ? b : a));
  return {
    mechanism,
    claimed,
    delta,
    lowerBound: worst.lowerBound,
    confidence: 1 - ALPHA,
    samples,
    verdict: worst.lowerBound > claimed ? "violation" : "consistent",
    event: describe(worst),
  };
}

const runsOf = (target: Target, samples: number): number => Math.ceil(samples * target.effort);

const describe = ({ target, event }: Finding & { target: Target }): string => `${target.name}: ${event}`;

function targetsOf(
  name: MechanismName,
  { makeTargets, breaks, local }: Subject,
  epsilon: number,
  core: Core,
  fault: Break | undefined,
): readonly Target[] {
  if (fault === undefined) return makeTargets(epsilon, core);
  if (!breaks.includes(fault.kind))
    throw new TypeError(`break: expected ${breaks.join(" or ")} for "${name}", got "${fault.kind}"`);
  if (local && fault.kind === "scale") return makeTargets(epsilon / fault.factor, core);
  return makeTargets(epsilon, brokenCore(core, fault), fault);
}

function observe(
  target: Target,
  world: World,
  runs: number,
  random: Random,
  step: (runs: number) => void,
): Observations {
  const width = target.features.length;
  const rows = new Float64Array(runs * width);
  for (let from = 0; from < runs; from += RUNS_AT_ONCE) {
    const to = Math.min(runs, from + RUNS_AT_ONCE);
    target.observe(world, random, rows.subarray(from * width, to * width));
    step(to - from);
  }
  return { features: target.features, rows };
}
