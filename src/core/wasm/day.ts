/** Calls assembly/day.ts. */
import type { Days } from "../core.js";
import { initialState } from "../js/chacha.js";
import * as js from "../js/day.js";
import { RANDOM_POSITION } from "../layout.js";
import type { Random } from "../random.js";
import { digit } from "./digit.js";
import { type Arena, type NoiseKernels, useArena } from "./instance.js";
import { FEW_SAMPLES } from "./laplace.js";

const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function day(kernels: NoiseKernels): Days {
  const fillDigit = digit(kernels);
  return {
    growDay(leafRandom, nodeRandom, scale, shape) {
      const { sizes, fanouts, weights } = shape;
      const [leaves, inner] = [sizes[0]!, fanouts.length];
      const words = scale.words(fillDigit); // before the arena is taken
      if (leaves + inner <= FEW_SAMPLES) return js.growDay(leafRandom, nodeRandom, scale, shape);
      return useArena(kernels, (arena) => {
        const shares = arena.take(inner * BYTES);
        kernels.growDay(
          stage(kernels, arena, leafRandom),
          stage(kernels, arena, nodeRandom),
          arena.put(words),
          leaves,
          inner,
          arena.put(fanouts),
          arena.put(weights),
          arena.take((leaves + inner) * BYTES),
          shares,
        );
        return arena.copy(shares, sizes[1] ?? 0);
      });
    },
  };
}

/** Stages a sub-stream from its first word. */
function stage(kernels: NoiseKernels, arena: Arena, random: Random): number {
  const block = arena.take(kernels.randomBytes());
  arena.write(block, initialState(random));
  arena.writeDouble(block + RANDOM_POSITION, 0);
  return block;
}
