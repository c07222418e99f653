/** Calls assembly/laplace.ts; a few samples go to the twin. */
import type { Sampling } from "../core.js";
import * as js from "../js/laplace.js";
import { digit } from "./digit.js";
import type { NoiseKernels } from "./instance.js";
import { fillChunks } from "./reader.js";

/** Up to so many samples cost less in JavaScript than the copy of a scale, 18 to 30 KB. */
export const FEW_SAMPLES = 8;

export function laplace(kernels: NoiseKernels): Sampling {
  const fillDigit = digit(kernels);
  return {
    geometric(random, scale, out) {
      const words = scale.words(fillDigit);
      if (out.length <= FEW_SAMPLES) return js.geometric(random, scale, out);
      fillChunks(kernels, random, words, out, (record, scaleAt, count, at) =>
        kernels.fillGeometric(record, scaleAt, count, at),
      );
    },
    laplace(random, scale, out) {
      const words = scale.words(fillDigit);
      if (out.length <= FEW_SAMPLES) return js.laplace(random, scale, out);
      fillChunks(kernels, random, words, out, (record, scaleAt, count, at) =>
        kernels.fillLaplace(record, scaleAt, count, at),
      );
    },
  };
}
