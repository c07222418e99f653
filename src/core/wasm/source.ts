/**
 * The compiled kernels, as bytes that the platform compiles when they are first used. The build for Cloudflare Workers,
 * where compiling at run time is forbidden, puts a module that was compiled beforehand in place of this file
 * (scripts/buildWorkerd.js).
 */
import { wasmHex } from "../wasmBytes.js";

export function wasmSource(): Uint8Array | WebAssembly.Module {
  const { fromHex } = Uint8Array as { fromHex?: (text: string) => Uint8Array };
  if (fromHex !== undefined) return fromHex.call(Uint8Array, wasmHex);
  const digit = (i: number): number => (wasmHex.charCodeAt(i) % 39) - 9; // "0" … "9", "a" … "f" are 9 … 24 modulo 39
  return Uint8Array.from({ length: wasmHex.length / 2 }, (_, i) => 16 * digit(2 * i) + digit(2 * i + 1));
}
