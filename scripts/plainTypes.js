/**
 * Makes the declarations in dist/types readable for TypeScript 5.0 to 5.6: typed arrays are generic only from 5.7 on, and
 * the compiler writes `Uint8Array<ArrayBuffer>` wherever it infers a type. Declarations that no entry point leads to are
 * removed.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const ROOT = "dist/types";
const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
/** @type {string[]} */
const waiting = Object.values(exports).flatMap(({ types }) =>
  types === undefined ? [] : [normalize(types)],
);
const reached = new Set(waiting);
for (const path of waiting) {
  const text = readFileSync(path, "utf8");
  for (const [, target] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+)\.js"/g)) {
    const file = `${normalize(join(dirname(path), /** @type {string} */ (target)))}.d.ts`;
    if (!reached.has(file)) waiting.push(file);
    reached.add(file);
  }
  const plain = text.replace(/\b(\w+Array)<ArrayBuffer(Like)?>/g, "$1");
  if (plain !== text) writeFileSync(path, plain);
}
for (const name of readdirSync(ROOT, { recursive: true, encoding: "utf8" })) {
  const path = join(ROOT, name);
  if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
}
