/**
 * ToPS end to end, through the code that publishes. A replaced value is read by one stage only, so there is an
 * attack for each: on a value that chooses θ, one that is counted, one of the probe, one that warms up, one that is published.
 */
import { chooseCandidate, makeChoice } from "../../../src/stream/holdout/choice.js";
import { resolveSettings, type StreamOptions } from "../../../src/stream/options.js";
import { HoldoutStream } from "../../../src/stream/holdoutStream.js";
import type { Core } from "../../../src/core/core.js";
import type { Random } from "../../../src/core/random.js";
import { type MakeTargets, type Target, THETA, type World } from "../target.js";

export const tops: MakeTargets = (epsilon, core) => [
  choosing(epsilon, core),
  counting(epsilon, core),
  probing(epsilon, core),
  warming(epsilon, core),
  published(epsilon, core),
];

/** The choice of θ alone: the class that chooses, the class of the rough θ, and the count of values above θ. */
export const choice: MakeTargets = (epsilon, core) => [
  choosing(epsilon, core),
  roughly(epsilon, core),
  counting(epsilon, core),
];

/**
 * A value of the class that chooses the rough θ, below or above the first of two candidates. Nobody sees the rough θ, but the
 * proof counts it as published, because the choice of θ depends on it: so does the attack, which has no power otherwise.
 */
function roughly(epsilon: number, core: Core): Target {
  const rule = makeChoice(epsilon, 16, 256, 2);
  return {
    name: "a value of the class that chooses the rough threshold, 0 or max",
    features: ["rough threshold"],
    effort: 1,
    observe(world: World, random: Random, rows: Float64Array) {
      for (let row = 0; row < rows.length; row++) {
        const above = Float64Array.of(rule.hinge + world, 0);
        rows[row] = chooseCandidate(core, random, rule, above, LEAST_SLOPE, 0);
      }
    },
  };
}

/** β of a sparse class: the rough θ is then the smaller one often enough for both to be seen. */
const LEAST_SLOPE = 1.5;

/** Sixteen values choose between two thresholds; one of them, of the class that chooses, is 0 or max. */
function choosing(epsilon: number, core: Core): Target {
  const options = { epsilon, max: 2, holdout: 16, maxRange: 256, tuning: { resolution: 1 } };
  // The count of values above θ = 1 passes the hinge of ⌊1/ε⌋ with either value, as far as the class has room.
  const large = Math.min(12, 1 + Math.floor(1 / epsilon));
  const others = [1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14];
  return {
    name: "a value that chooses the threshold, 0 or max",
    features: ["threshold"],
    effort: 1 / 4,
    observe: observing(core, options, 1, (stream, world, row) => {
      const values = new Float64Array(16);
      values[0] = 2 * world;
      for (const position of others.slice(0, large)) values[position] = 2;
      stream.pushMany(values);
      row[0] = stream.statement().threshold!;
    }),
  };
}

/** The value at position 31 is all that the count of values above θ reads. */
function counting(epsilon: number, core: Core): Target {
  const options = { epsilon, max: THETA, holdout: 32, maxRange: 512 };
  return {
    name: "a value that is counted if it is above the threshold, 0 or max",
    features: ["values above the threshold"],
    effort: 1 / 4,
    observe: observing(core, options, 1, (stream, world, row) => {
      const values = new Float64Array(32);
      values[31] = world * THETA;
      stream.pushMany(values);
      row[0] = stream.statement().clampedShare!.count;
    }),
  };
}

/** Two values probe whether one level is skipped or none; the last one is 0 or max. */
function probing(epsilon: number, core: Core): Target {
  const options = { epsilon, max: THETA, holdout: 32, maxRange: 8, tuning: { fanout: 2 } };
  return {
    name: "a value of the probe, 0 or max",
    features: ["levels skipped"],
    effort: 1 / 4,
    observe: observing(core, options, 1, (stream, world, row) => {
      const values = new Float64Array(32).fill(THETA);
      values[31] = world * THETA;
      stream.pushMany(values);
      row[0] = stream.statement().skipLevels;
    }),
  };
}

/** One value gives the first prediction, which the next position publishes. */
function warming(epsilon: number, core: Core): Target {
  return {
    name: "a value of the warm start, 0 or max",
    features: ["first published number"],
    effort: 1,
    observe: observing(
      core,
      { epsilon, max: THETA, threshold: THETA, holdout: 1 },
      1,
      (stream, world, row) => {
        stream.push(world * THETA);
        row[0] = stream.push(0)!;
      },
    ),
  };
}

/** Two blocks of one value under one top node; the first is 0 or max. */
function published(epsilon: number, core: Core): Target {
  const options = {
    epsilon,
    max: THETA,
    threshold: THETA,
    maxRange: 4,
    tuning: { fanout: 2, skipLevels: 0 },
  };
  const t = (2 * THETA) / epsilon;
  return {
    name: "a published value, 0 or max",
    features: ["likelihood ratio of the published numbers", "published number"],
    effort: 1,
    observe: observing(core, options, 2, (stream, world, row) => {
      const [first, second] = stream.pushMany([world * THETA, 0]) as unknown as [number, number];
      row[0] = Math.log(likelihood(first, second, t) / likelihood(first - THETA, second, t));
      row[1] = first;
    }),
  };
}

/**
 * Likelihood, up to a constant, of publishing (x, y) for two leaves of true count 0 under one top node. With
 * z = R/3 the correction (b = 2), the three noises are x − z, y − z and z + x + y: z is not published, so
 * exp(−g(z)/t), g(z) = |z − x| + |z − y| + |z + x + y|, is integrated over it. g is linear between its three kinks.
 */
export function likelihood(x: number, y: number, t: number): number {
  const [low, middle, high] = Float64Array.of(x, y, -x - y).sort() as unknown as [number, number, number];
  const weight = (g: number) => Math.exp(-g / t);
  const spread = high - low;
  return 2 * weight(spread) - (2 / 3) * (weight(spread + (middle - low)) + weight(spread + (high - middle)));
}

/** Runs a publisher with a key of its own for each row. */
export function observing(
  core: Core,
  options: StreamOptions,
  width: number,
  run: (stream: HoldoutStream, world: World, row: Float64Array) => void,
): Target["observe"] {
  const settings = resolveSettings(options);
  return (world: World, random: Random, rows: Float64Array) => {
    const keys = new Uint32Array((8 * rows.length) / width);
    core.keystream(random, keys);
    for (let i = 0; i < rows.length / width; i++) {
      const key = keys.slice(8 * i, 8 * i + 8);
      run(new HoldoutStream(settings, core, key), world, rows.subarray(i * width, (i + 1) * width));
    }
  };
}
