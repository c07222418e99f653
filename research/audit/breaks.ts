/**
 * Mechanisms that are broken on purpose, to show that the audit would see it. A break is a core whose noise is
 * wrong; the library never makes one.
 */
import { makeConsistent } from "../../src/core/js/consistency.js";
import { makeDayConsistent } from "../../src/core/js/day.js";
import type { Core } from "../../src/core/core.js";
import { DAY_RUN } from "../../src/core/layout.js";
import { exactRational } from "../../src/core/tables/fixedPoint.js";
import { leafCount, nodeCount } from "../../src/core/tree.js";
import { type Random, Purpose } from "../../src/core/random.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";

export type Break =
  /** Noise of `factor` times the scale it should have: all noise, that of trees alone, or that of choices alone. */
  | { readonly kind: "scale" | "tree-scale" | "choice-scale"; readonly factor: number }
  /** Textbook Laplace noise: the logarithm of a uniform double. */
  | { readonly kind: "float" }
  /** The first leaf of every tree, and of every day, has no noise. */
  | { readonly kind: "skip-node" }
  /** A person is counted at each of their events. The noise is right: the target makes this break. */
  | { readonly kind: "counted-again" };

const SCALES = ["scale", "tree-scale", "choice-scale"] as const;
const BREAK_NAMES = [...SCALES.map((kind) => `${kind}=FACTOR`), "float", "skip-node", "counted-again"];

/** "scale=0.8", "tree-scale=0.5", "choice-scale=0.5", "float", "skip-node" or "counted-again". */
export function parseBreak(text: string): Break {
  if (text === "float" || text === "skip-node" || text === "counted-again") return { kind: text };
  const [name, factor] = text.split("=");
  const kind = SCALES.find((known) => known === name);
  if (kind === undefined || factor === undefined)
    throw new TypeError(`break: expected ${BREAK_NAMES.join(", ")}, got ${JSON.stringify(text)}`);
  if (!(Number(factor) > 0 && Number(factor) < Infinity))
    throw new RangeError(`break: expected a scale factor above 0, got ${JSON.stringify(factor)}`);
  return { kind, factor: Number(factor) };
}

export function brokenCore(core: Core, fault: Break): Core {
  if ("factor" in fault) return wrongScale(core, fault);
  if (fault.kind === "counted-again") return core;
  const laplace = fault.kind === "float" ? naiveLaplace(core) : firstLeafSkipped(core);
  return {
    ...core,
    laplace,
    growTree(random, scale, fanout, levels) {
      const nodes = new Float64Array(nodeCount(fanout, levels));
      laplace(random, scale, nodes);
      if (fault.kind === "skip-node") nodes[0] = 0;
      const corrections = makeConsistent(nodes, fanout, levels);
      return { noise: nodes.slice(0, leafCount(fanout, levels)), corrections };
    },
    growDay(leafRandom, nodeRandom, scale, shape) {
      const leaves = shape.sizes[0]!;
      const nodes = new Float64Array(leaves + shape.fanouts.length);
      for (let leaf = 0, run = 0; leaf < leaves; leaf += DAY_RUN, run++) {
        const nonce = leafRandom.nonce.with(0, leafRandom.nonce[0]! + run);
        const random = { key: leafRandom.key, nonce, position: 0 };
        laplace(random, scale, nodes.subarray(leaf, Math.min(leaves, leaf + DAY_RUN)));
      }
      laplace({ ...nodeRandom, position: 0 }, scale, nodes.subarray(leaves));
      return makeDayConsistent(nodes, shape);
    },
  };
}

/** No noise on the first leaf of a day, whose noise is drawn when its period ends, too. */
function firstLeafSkipped(core: Core): Core["laplace"] {
  return (random, scale, out) => {
    core.laplace(random, scale, out);
    const [run, , last] = random.nonce;
    if ((last! & 0xff) === Number(Purpose.dayLeaves) && run! % 2 ** 16 === 0) out[0] = 0;
  };
}

function wrongScale(core: Core, { kind, factor }: Extract<Break, { readonly factor: number }>): Core {
  const wrong = ({ numerator, denominator }: Scale): Scale => {
    const by = exactRational(factor);
    return makeScale(numerator * by.numerator, denominator * by.denominator);
  };
  const growTree: Core["growTree"] = (random, scale, fanout, levels) =>
    core.growTree(random, wrong(scale), fanout, levels);
  const growDay: Core["growDay"] = (leafRandom, nodeRandom, scale, shape) =>
    core.growDay(leafRandom, nodeRandom, wrong(scale), shape);
  const geometric: Core["geometric"] = (random, scale, out) => core.geometric(random, wrong(scale), out);
  if (kind === "tree-scale") return { ...core, growTree };
  if (kind === "choice-scale") return { ...core, geometric };
  return {
    ...core,
    growTree,
    growDay,
    geometric,
    laplace: (random, scale, out) => core.laplace(random, wrong(scale), out),
    // A value that counts for more is the same as less noise on every score.
    noisyMax: (random, bins, race) =>
      core.noisyMax(random, bins, { ...race, countWeight: Math.round(race.countWeight / factor) }),
  };
}

/** t·ln u with a sign, in doubles: what many a library does, and what Mironov (2012) broke. */
function naiveLaplace(core: Core): Core["laplace"] {
  return (random: Random, scale: Scale, out: Float64Array) => {
    const t = Number(scale.numerator) / Number(scale.denominator);
    const words = new Uint32Array(2 * out.length);
    core.keystream(random, words);
    for (let i = 0; i < out.length; i++) {
      const [a, b] = [words[2 * i]!, words[2 * i + 1]!];
      const uniform = ((a >>> 6) * 2 ** 27 + (b >>> 5) + 1) / 2 ** 53; // (0, 1]
      out[i] = (1 - 2 * (a & 1)) * t * -Math.log(uniform);
    }
  };
}
