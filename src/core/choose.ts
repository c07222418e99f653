/** Which core runs: wasm where it can be compiled, else js with the same answers. */
import { shown } from "./checks.js";
import type { Core, DataCore, NoiseCore } from "./core.js";
import { jsCore, jsData, jsNoise } from "./js/index.js";
import { makeWasmCore, makeWasmData, makeWasmNoise } from "./wasm/index.js";

export type CoreChoice = "auto" | "wasm" | "js";

let wasmCore: Core | undefined;
let wasmNoise: NoiseCore | undefined;
let wasmData: DataCore | undefined;

export const chooseCore = (choice?: CoreChoice): Core =>
  choose(choice, jsCore, () => (wasmCore ??= makeWasmCore()));

/** Chooses a core that makes noise alone: event streams need no other kernels, so bundles leave those out. */
export const chooseNoise = (choice?: CoreChoice): NoiseCore =>
  choose(choice, jsNoise, () => (wasmNoise ??= makeWasmNoise()));

/** Chooses a core that reads data alone: the local model and readers of text need no other kernels. */
export const chooseData = (choice?: CoreChoice): DataCore =>
  choose(choice, jsData, () => (wasmData ??= makeWasmData()));

/** `auto` takes wasm if it loads. `wasm` throws the platform's reason if it does not. */
function choose<C>(choice: CoreChoice = "auto", js: C, wasm: () => C): C {
  if (choice === "js") return js;
  if (choice !== "auto" && choice !== "wasm")
    throw new TypeError(`core: expected "auto", "wasm" or "js", got ${shown(choice)}`);
  try {
    return wasm();
  } catch (reason) {
    if (choice === "auto") return js;
    throw new Error('core: "wasm" cannot be compiled on this platform; use "auto" or "js"', {
      cause: reason,
    });
  }
}
