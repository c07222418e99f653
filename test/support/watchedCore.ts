import type { Core } from "../../src/core/core.js";

/** A core, and how many nodes of noise it has drawn since the last question. */
export function watchedCore(core: Core): { core: Core; drawn: () => number } {
  let drawn = 0;
  const seen = (nodes: number) => (drawn += nodes);
  return {
    core: {
      ...core,
      laplace: (random, t, out) => (seen(out.length), core.laplace(random, t, out)),
      growTree(random, t, fanout, levels) {
        const tree = core.growTree(random, t, fanout, levels);
        seen(tree.noise.length);
        return tree;
      },
    },
    drawn: () => {
      const answer = drawn;
      drawn = 0;
      return answer;
    },
  };
}
