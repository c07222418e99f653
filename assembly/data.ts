/** The kernels that read data: the exports of data.wasm. Pointers come from the arena in src/core/wasm/instance.ts. */
export { heapBase } from "./heapBase";
export { randomBytes } from "./reader";
export { blockSums, countAbove, estimateLeaves, publishBlocks } from "./ingest";
export * from "./squareWave";
export { chunksBytes } from "./chunks";
export { noisyMax } from "./threshold";
export { countHeldOut } from "./heldOut";
export { fillReports } from "./reports";
export { scanLines } from "./text";
export { scanCsv } from "./textCsv";
export { scanJson } from "./textJson";
