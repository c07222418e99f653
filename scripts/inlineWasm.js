/**
 * Writes the compiled kernels into src/core/wasmBytes.ts, so that importing the package is all it takes to load them. A byte
 * below 88 is one letter, others are two (src/core/wasm/source.ts reads them): gzip finds what repeats, since bytes begin
 * and end with letters. Next to code that is 0.5 KB smaller than hex for the kernels that make noise, and 1.8 KB smaller than base64.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** Bytes per module: both together stay smaller than a small picture. */
const LIMITS = { noise: 10 * 1024, data: 17.5 * 1024 };

/** @param {number} number below 91: letters from "#" to "}", of which JSON escapes the backslash alone */
const letter = (number) => String.fromCharCode(35 + number);

/** @param {number} byte */
const letters = (byte) =>
  byte < 88 ? letter(byte) : letter(88 + Math.floor((byte - 88) / 91)) + letter((byte - 88) % 91);

let source = "/** The kernels of assembly/, compiled; made by scripts/inlineWasm.js. */\n";
for (const [name, limit] of Object.entries(LIMITS)) {
  const bytes = readFileSync(`build/${name}.wasm`);
  if (bytes.length > limit)
    throw new RangeError(`${name}.wasm: expected at most ${limit} bytes, got ${bytes.length}`);
  source += `export const ${name}Letters: string =\n  ${JSON.stringify([...bytes].map(letters).join(""))};\n`;
  console.log(`${name}.wasm: ${bytes.length} bytes`);
}
writeFileSync("src/core/wasmBytes.ts", source);
