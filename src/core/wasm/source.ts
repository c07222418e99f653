/**
 * The compiled kernels, as bytes that the platform compiles when they are first used. The build for Cloudflare Workers,
 * where compiling at run time is forbidden, puts a module that was compiled beforehand in place of this file
 * (scripts/buildWorkerd.js).
 */
import { wasmBase64 } from "../wasmBytes.js";

export function wasmSource(): Uint8Array | WebAssembly.Module {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, wasmBase64);
  const letters = atob(wasmBase64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
