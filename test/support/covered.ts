/** Coverage that tests measure, for the table of `npm run evidence`. */
import { appendFileSync } from "node:fs";
import type { Covered } from "../../scripts/evidence/folder.js";

/** Adds a row to the file that BRUME_COVERAGE names, if it names one. */
export function noteCoverage(row: Covered): void {
  const file = process.env["BRUME_COVERAGE"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}
