/** Calls assembly/day.ts. */
import type { Days } from "../core.js";
import * as js from "../js/day.js";
import { digit } from "./digit.js";
import { type NoiseKernels, useArena } from "./instance.js";
import { FEW_SAMPLES } from "./laplace.js";
import { putRandom } from "./reader.js";

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
          putRandom(kernels, arena, { ...leafRandom, position: 0 }),
          putRandom(kernels, arena, { ...nodeRandom, position: 0 }),
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
