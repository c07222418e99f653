/** The core in WebAssembly. */
import type { Core } from "../core.js";
import { chacha } from "./chacha.js";
import { day } from "./day.js";
import { digit } from "./digit.js";
import { forest } from "./forest.js";
import { heldOut } from "./heldOut.js";
import { ingest } from "./ingest.js";
import { loadKernels } from "./instance.js";
import { laplace } from "./laplace.js";
import { reports } from "./reports.js";
import { squareWave } from "./squareWave.js";
import { text } from "./text.js";
import { threshold } from "./threshold.js";

/** Throws where WebAssembly cannot be compiled; choose.ts falls back to the js core then. */
export function makeWasmCore(): Core {
  const kernels = loadKernels();
  return {
    name: "wasm",
    ...chacha(kernels),
    fillDigit: digit(kernels),
    ...laplace(kernels),
    ...forest(kernels),
    ...day(kernels),
    ...ingest(kernels),
    ...squareWave(kernels),
    ...threshold(kernels),
    ...heldOut(kernels),
    ...reports(kernels),
    ...text(kernels),
  };
}
