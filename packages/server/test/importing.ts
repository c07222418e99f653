/**
 * An import that may be killed at any moment. Run as
 *
 *     node program.mjs <state folder>
 *
 * It prints a line for each batch of events, before it is stored, and one at the end.
 */
import { importLog } from "../src/import/importLog.js";
import { FROM, importConfig, logOf, PRESENT, TO, visits } from "./madeLog.js";

/** Visits of the log. */
export const COUNT = 4000;

const [, script, folder] = process.argv;
if (script?.endsWith("program.mjs")) {
  const log = logOf(visits(COUNT), {
    isUnchanged: () => Promise.resolve(process.stdout.write("batch\n")).then(() => true),
  });
  await importLog(importConfig(folder!), log, {
    ...{
      key: new Uint8Array(32).fill(7),
      clock: { wall: () => PRESENT, steady: () => PRESENT },
      from: FROM,
      to: TO,
    },
  });
  process.stdout.write("done\n");
}
