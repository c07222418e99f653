/**
 * Writes the compiled kernels into src/core/wasmBytes.ts, so that importing the package is all it takes to load them. As hex:
 * a byte is two whole letters, so gzip finds what repeats, and a bundle is 2.7 KB smaller than with base64.
 */
import { readFileSync, writeFileSync } from "node:fs";

const LIMIT = 24 * 1024; // bytes: the whole core stays smaller than a small picture
const bytes = readFileSync("build/brume.wasm");
if (bytes.length > LIMIT)
  throw new RangeError(`brume.wasm: expected at most ${LIMIT} bytes, got ${bytes.length}`);
writeFileSync(
  "src/core/wasmBytes.ts",
  `/** The kernels of assembly/, compiled; made by scripts/inlineWasm.js. */\nexport const wasmHex: string =\n  "${bytes.toString("hex")}";\n`,
);
console.log(`brume.wasm: ${bytes.length} bytes`);
