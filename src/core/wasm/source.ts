/** The compiled kernels: bytes that the platform compiles when they are first used, or modules that were compiled beforehand. */
import { dataLetters, noiseLetters } from "../wasmBytes.js";

let noise: WebAssembly.Module | undefined;
let data: WebAssembly.Module | undefined;

/** Takes kernels that were compiled beforehand: Cloudflare Workers forbids compiling at run time (scripts/build.ts). */
export function provideKernels(noiseModule: WebAssembly.Module, dataModule: WebAssembly.Module): void {
  noise = noiseModule;
  data = dataModule;
}

export const noiseSource = (): WebAssembly.Module => noise ?? compile(noiseLetters);

export const dataSource = (): WebAssembly.Module => data ?? compile(dataLetters);

/** Reads what scripts/inlineWasm.js wrote: a byte below 88 is one letter, "#" for 0; others are two, 91 to each first letter. */
function compile(letters: string): WebAssembly.Module {
  const bytes = [];
  for (let i = 0; i < letters.length; i++) {
    const first = letters.charCodeAt(i) - 35;
    bytes.push(first < 88 ? first : 88 + 91 * (first - 88) + letters.charCodeAt(++i) - 35);
  }
  return new WebAssembly.Module(Uint8Array.from(bytes));
}
