/** Which core runs: wasm where it can be compiled, else js with the same answers. */
import { shown } from "./checks.js";
import type { Core } from "./core.js";
import { jsCore } from "./js/index.js";
import { makeWasmCore } from "./wasm/index.js";

export type CoreChoice = "auto" | "wasm" | "js";

let wasm: Core | undefined;

/** `auto` takes wasm if it loads. `wasm` throws the platform's reason if it does not. */
export function chooseCore(choice: CoreChoice = "auto"): Core {
  if (choice === "js") return jsCore;
  if (choice !== "auto" && choice !== "wasm")
    throw new TypeError(`core: expected "auto", "wasm" or "js", got ${shown(choice)}`);
  try {
    return (wasm ??= makeWasmCore());
  } catch (reason) {
    if (choice === "auto") return jsCore;
    throw new Error('core: "wasm" cannot be compiled on this platform; use "auto" or "js"', {
      cause: reason,
    });
  }
}
