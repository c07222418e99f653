/** The compiled kernels: bytes that the platform compiles when they are first used, or a module that was compiled beforehand. */
import { wasmHex } from "../wasmBytes.js";

let compiled: WebAssembly.Module | undefined;

/** Takes kernels that were compiled beforehand: Cloudflare Workers forbids compiling at run time (scripts/build.ts). */
export function provideKernels(module: WebAssembly.Module): void {
  compiled = module;
}

export function wasmSource(): Uint8Array | WebAssembly.Module {
  if (compiled !== undefined) return compiled;
  const { fromHex } = Uint8Array as { fromHex?: (text: string) => Uint8Array };
  if (fromHex !== undefined) return fromHex.call(Uint8Array, wasmHex);
  const digit = (i: number): number => (wasmHex.charCodeAt(i) % 39) - 9; // "0" … "9", "a" … "f" are 9 … 24 modulo 39
  return Uint8Array.from({ length: wasmHex.length / 2 }, (_, i) => 16 * digit(2 * i) + digit(2 * i + 1));
}
