import { describe, expect, test } from "vitest";
import { NodeHierarchy, type NodeShape } from "../../research/systems/nodes.js";
import { unboundedShape, UNBOUNDED_LEVELS } from "../../research/systems/unbounded.js";
import { laplaceVariance } from "../../src/stream/answer/variance.js";
import { chooseCore } from "../../src/core/choose.js";
import { exactRational } from "../../src/core/tables/fixedPoint.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";

const core = chooseCore("js");
const scale = makeScale(7n, 1n);
/** P(noise ≠ 0) = 2·exp(−2³²): none. */
const silence = makeScale(1n, 2n ** 32n);

const shapes: Record<string, NodeShape> = {
  "binary, three levels": { fanout: 2, levels: 3, scale: () => scale, forestLength: 8, history: 100 },
  "fan-out 3, cut short": { fanout: 3, levels: 3, scale: () => scale, forestLength: 20, history: 100 },
  "fan-out 4, two levels": { fanout: 4, levels: 2, scale: () => scale, forestLength: 16, history: 100 },
  unbounded: unboundedShape(1, 0.5),
};

const values = Array.from({ length: 43 }, (_, i) => (i * 7919) % 11);

function filled(shape: NodeShape, seed = "nodes"): { stream: NodeHierarchy; published: number[] } {
  const stream = new NodeHierarchy(core, unsafeKey(seed), shape);
  return { stream, published: values.map((value) => stream.push(value)) };
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, value) => sum + value, 0);

describe.each(Object.entries(shapes))("%s", (_, shape) => {
  test("without noise everything is what it was", () => {
    const { stream, published } = filled({ ...shape, scale: () => silence });
    expect(published).toEqual(values);
    for (let from = 0; from < values.length; from++)
      for (let to = from; to <= values.length; to++)
        for (const kind of ["best", "published"] as const)
          expect(stream.answer(from, to, kind).sum).toBe(total(values.slice(from, to)));
  });

  test("published: the increments, exactly, and the noise that is left in them", () => {
    const { stream, published } = filled(shape);
    for (let from = 0; from < values.length; from++)
      for (let to = from; to <= values.length; to++) {
        const { sum, spread } = stream.answer(from, to, "published");
        expect(sum).toBe(total(published.slice(from, to)));
        expect(spread.variance).toBeCloseTo(noiseOf(shape, prefixDifference(shape, from, to)), 6);
      }
  });

  test("best: the fewest nodes that cover the range, each with one noise", () => {
    const { stream } = filled(shape);
    for (let from = 0; from < values.length; from++)
      for (let to = from + 1; to <= values.length; to++) {
        const nodes = fewest(shape, from, to);
        const { sum, spread } = stream.answer(from, to, "best");
        // A range that is one node is answered by that node alone, which gives the nodes one by one.
        expect(sum).toBe(total(nodes.map(([low, high]) => stream.answer(low, high, "best").sum)));
        expect(spread.variance).toBeCloseTo(noiseOf(shape, nodes), 6);
      }
  });
});

/** Every node of the forests that hold `values`, as ranges with their level. */
function allNodes(shape: NodeShape): [from: number, to: number, level: number][] {
  const forest = Math.min(shape.forestLength, values.length);
  const nodes: [number, number, number][] = [];
  for (let start = 0; start < values.length; start += forest)
    for (let level = 0, size = 1; level < shape.levels && size <= forest; level++, size *= shape.fanout)
      for (let at = 0; at + size <= forest; at += size) nodes.push([start + at, start + at + size, level]);
  return nodes.filter(([, to]) => to <= values.length);
}

/** Fewest nodes from `from` to `to`, by trying all: shortest path. */
function fewest(shape: NodeShape, from: number, to: number): [number, number, number][] {
  const best = new Map<number, [number, number, number][]>([[from, []]]);
  for (let at = from; at < to; at++)
    for (const node of allNodes(shape)) {
      const path = best.get(at);
      if (node[0] !== at || node[1] > to || path === undefined) continue;
      const known = best.get(node[1]);
      if (known === undefined || path.length + 1 < known.length) best.set(node[1], [...path, node]);
    }
  return best.get(to)!;
}

/** Nodes in one of two prefixes and not in the other. A prefix starts with its forest. */
function prefixDifference(shape: NodeShape, from: number, to: number): [number, number, number][] {
  const prefix = (end: number) => {
    const nodes: [number, number, number][] = [];
    for (let at = 0; at < end;) {
      const forestEnd = (Math.floor(at / shape.forestLength) + 1) * shape.forestLength;
      const next = Math.min(end, forestEnd > at ? forestEnd : end);
      nodes.push(...fewest(shape, at, Number.isFinite(next) ? next : end));
      at = Number.isFinite(next) ? next : end;
    }
    return new Map(nodes.map((node) => [node.join(), node]));
  };
  const [a, b] = [prefix(from), prefix(to)];
  return [...[...a].filter(([name]) => !b.has(name)), ...[...b].filter(([name]) => !a.has(name))].map(
    ([, node]) => node,
  );
}

const noiseOf = (shape: NodeShape, nodes: readonly (readonly [number, number, number])[]) =>
  total(
    nodes.map(([, , level]) => {
      const { numerator, denominator } = shape.scale(level);
      return laplaceVariance(Number(numerator) / Number(denominator));
    }),
  );

test("every node of every forest has noise of its own", () => {
  const shape = shapes["binary, three levels"]!;
  const { stream } = filled(shape);
  const noise = allNodes(shape).map(
    ([from, to]) => stream.answer(from, to, "best").sum - total(values.slice(from, to)),
  );
  const [first, second] = [noise.slice(0, 14), noise.slice(14, 28)];
  expect(second).not.toEqual(first);
  // 28 draws of scale 7 have 18.6 ± 1.9 different values; 7 or fewer once in 10⁸ seeds. One noise for all would have one.
  expect(new Set(noise).size).toBeGreaterThan(7);
});

test("old forests are dropped", () => {
  const { stream } = filled({ ...shapes["binary, three levels"]!, history: 2 });
  expect(stream.oldest).toBe(32);
  expect(stream.length).toBe(43);
  expect(stream.answer(32, 43, "best").sum).toBe(
    filled(shapes["binary, three levels"]!).stream.answer(32, 43, "best").sum,
  );
});

test("the budgets of the unbounded hierarchy add up to less than ε", () => {
  // Σ Θ/t_k in exact fractions: what a value costs on its way through all levels.
  const [theta, epsilon] = [12, 0.3];
  const shape = unboundedShape(theta, epsilon);
  let [numerator, denominator] = [0n, 1n];
  for (let level = 0; level < UNBOUNDED_LEVELS; level++) {
    const t = shape.scale(level);
    numerator = numerator * t.numerator + BigInt(theta) * t.denominator * denominator;
    denominator *= t.numerator;
  }
  const budget = exactRational(epsilon);
  expect(numerator * budget.denominator < budget.numerator * denominator).toBe(true);
  expect(Number((numerator * 10n ** 12n) / denominator) / 1e12).toBeCloseTo(
    epsilon * (1 - 0.9 ** UNBOUNDED_LEVELS),
    9,
  );
});
