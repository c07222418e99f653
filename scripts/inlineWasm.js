/**
 * Writes the compiled kernels into src/core/wasmBytes.ts, so that importing the package is all it takes to load them. As hex:
 * a byte is two whole letters, so gzip finds what repeats, and a bundle is 2.7 KB smaller than with base64.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** Bytes per module: both together stay smaller than a small picture. */
const LIMITS = { noise: 10 * 1024, data: 17.5 * 1024 };

let text = "/** The kernels of assembly/, compiled; made by scripts/inlineWasm.js. */\n";
for (const [name, limit] of Object.entries(LIMITS)) {
  const bytes = readFileSync(`build/${name}.wasm`);
  if (bytes.length > limit)
    throw new RangeError(`${name}.wasm: expected at most ${limit} bytes, got ${bytes.length}`);
  text += `export const ${name}Hex: string =\n  "${bytes.toString("hex")}";\n`;
  console.log(`${name}.wasm: ${bytes.length} bytes`);
}
writeFileSync("src/core/wasmBytes.ts", text);
