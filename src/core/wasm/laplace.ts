/** Stages assembly/laplace.ts. */
import type { Sampling } from "../core.js";
import type { Kernels } from "./instance.js";
import { fillChunks } from "./reader.js";

export function laplace(kernels: Kernels): Pick<Sampling, "geometric" | "laplace"> {
  return {
    geometric(random, scale, out) {
      fillChunks(kernels, random, scale.words, out, (block, scaleAt, count, at) =>
        kernels.fillGeometric(block, scaleAt, count, at),
      );
    },
    laplace(random, scale, out) {
      fillChunks(kernels, random, scale.words, out, (block, scaleAt, count, at) =>
        kernels.fillLaplace(block, scaleAt, count, at),
      );
    },
  };
}
