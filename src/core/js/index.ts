/** The core in plain TypeScript: for platforms that forbid compiling wasm, and the opponent in the benchmark. */
import type { Core } from "../core.js";
import { keystream } from "./chacha.js";
import { growDay } from "./day.js";
import { fillDigit } from "./digit.js";
import { growTree } from "./forest.js";
import { countHeldOut } from "./heldOut.js";
import { blockSums, estimateLeaves, publishBlocks } from "./ingest.js";
import { geometric, laplace } from "./laplace.js";
import { reports } from "./reports.js";
import { squareWave } from "./squareWave.js";
import { scanLines } from "./text.js";
import { scanCsv } from "./textCsv.js";
import { scanJson } from "./textJson.js";
import { noisyMax } from "./threshold.js";

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
  ...squareWave,
  noisyMax,
  countHeldOut,
  ...reports,
  scanLines,
  scanCsv,
  scanJson,
};
