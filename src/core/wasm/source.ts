/** The compiled kernels: bytes that the platform compiles when they are first used, or modules that were compiled beforehand. */
import { dataHex, noiseHex } from "../wasmBytes.js";

let noise: WebAssembly.Module | undefined;
let data: WebAssembly.Module | undefined;

/** Takes kernels that were compiled beforehand: Cloudflare Workers forbids compiling at run time (scripts/build.ts). */
export function provideKernels(noiseModule: WebAssembly.Module, dataModule: WebAssembly.Module): void {
  noise = noiseModule;
  data = dataModule;
}

export const noiseSource = (): WebAssembly.Module => noise ?? compile(noiseHex);

export const dataSource = (): WebAssembly.Module => data ?? compile(dataHex);

function compile(hex: string): WebAssembly.Module {
  const { fromHex } = Uint8Array as { fromHex?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromHex !== undefined) return new WebAssembly.Module(fromHex.call(Uint8Array, hex));
  const digit = (i: number): number => (hex.charCodeAt(i) % 39) - 9; // "0" … "9", "a" … "f" are 9 … 24 modulo 39
  const byte = (_: unknown, i: number): number => 16 * digit(2 * i) + digit(2 * i + 1);
  return new WebAssembly.Module(Uint8Array.from({ length: hex.length / 2 }, byte));
}
