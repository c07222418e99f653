/**
 * Makes the declarations in dist/ readable for TypeScript 5.0 to 5.6: typed arrays are generic only from 5.7 on, and
 * the compiler writes `Uint8Array<ArrayBuffer>` wherever it infers a type.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

for (const name of readdirSync("dist", { recursive: true })) {
  if (!name.endsWith(".d.ts")) continue;
  const path = join("dist", name);
  const text = readFileSync(path, "utf8");
  const plain = text.replace(/\b(\w+Array)<ArrayBuffer(Like)?>/g, "$1");
  if (plain !== text) writeFileSync(path, plain);
}
