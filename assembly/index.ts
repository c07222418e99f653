/** The one list of exports: every kernel, by stage. Pointers come from the arena in src/core/wasm/instance.ts. */
export { chachaFill } from "./chacha";
export { randomBytes } from "./reader";
export { digitBytes, fillDigit } from "./digit";
export { fillGeometric, fillLaplace } from "./laplace";
export { makeConsistent } from "./consistency";
export { growDay, makeDayConsistent } from "./day";
export { blockSums, countAbove, estimateLeaves, publishBlocks } from "./ingest";
export * from "./squareWave";
export { chunksBytes } from "./chunks";
export { noisyMax } from "./threshold";
export { countHeldOut } from "./heldOut";
export { fillReports } from "./reports";
export { scanLines } from "./text";
export { scanCsv } from "./textCsv";
export { scanJson } from "./textJson";

/** Where static data end and the arena begins, in bytes. */
export function heapBase(): usize {
  return __heap_base;
}
