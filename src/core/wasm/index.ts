/** The cores in WebAssembly. Their makers throw where it cannot be compiled; choose.ts falls back to the js core then. */
import type { Core, DataCore, NoiseCore } from "../core.js";
import { chacha } from "./chacha.js";
import { day } from "./day.js";
import { digit } from "./digit.js";
import { forest } from "./forest.js";
import { heldOut } from "./heldOut.js";
import { ingest } from "./ingest.js";
import { loadDataKernels, loadNoiseKernels } from "./instance.js";
import { laplace } from "./laplace.js";
import { reports } from "./reports.js";
import { squareWave } from "./squareWave.js";
import { text } from "./text.js";
import { threshold } from "./threshold.js";

export function makeWasmNoise(): NoiseCore {
  const kernels = loadNoiseKernels();
  return {
    name: "wasm",
    ...chacha(kernels),
    fillDigit: digit(kernels),
    ...laplace(kernels),
    ...day(kernels),
  };
}

export function makeWasmData(): DataCore {
  const kernels = loadDataKernels();
  return {
    name: "wasm",
    ...ingest(kernels),
    ...squareWave(kernels),
    ...heldOut(kernels),
    ...reports(kernels),
    ...text(kernels),
  };
}

export function makeWasmCore(): Core {
  const noise = makeWasmNoise();
  return {
    ...noise,
    ...makeWasmData(),
    ...forest(loadNoiseKernels()),
    ...threshold(loadDataKernels(), noise.fillDigit),
  };
}
