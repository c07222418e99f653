/** The cores in plain TypeScript: for platforms that forbid compiling wasm, and the opponent in the benchmark. */
import type { Core, DataCore, NoiseCore } from "../core.js";
import { keystream } from "./chacha.js";
import { growDay } from "./day.js";
import { fillDigit } from "./digit.js";
import { growTree } from "./forest.js";
import { countHeldOut } from "./heldOut.js";
import { blockSums, estimateLeaves, publishBlocks } from "./ingest.js";
import { geometric, laplace } from "./laplace.js";
import { fillReports } from "./reports.js";
import { emSteps } from "./squareWave.js";
import { scanLines } from "./text.js";
import { scanCsv } from "./textCsv.js";
import { scanJson } from "./textJson.js";
import { noisyMax } from "./threshold.js";

export const jsNoise: NoiseCore = { name: "js", keystream, fillDigit, geometric, laplace, growDay };

export const jsData: DataCore = {
  name: "js",
  blockSums,
  estimateLeaves,
  publishBlocks,
  emSteps,
  countHeldOut,
  fillReports,
  scanLines,
  scanCsv,
  scanJson,
};

// No spread: bundlers keep an object with a spread even if nobody uses it.
export const jsCore: Core = {
  name: "js",
  keystream,
  fillDigit,
  geometric,
  laplace,
  growTree,
  growDay,
  blockSums,
  estimateLeaves,
  publishBlocks,
  emSteps,
  noisyMax,
  countHeldOut,
  fillReports,
  scanLines,
  scanCsv,
  scanJson,
};
