/**
 * Writes src/core/builtFrom.ts: the version and the commit that statements name. The commit is that of a clean checkout, or
 * BRUME_COMMIT where there is no repository; it is null if files have changed since.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

/** @returns {string | null} */
function commit() {
  const given = process.env["BRUME_COMMIT"];
  if (given !== undefined) return given || null;
  /** @param {string[]} args */
  const git = (...args) =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("status", "--porcelain") === "" ? git("rev-parse", "HEAD") : null;
  } catch {
    return null; // a tarball of the sources, or no git
  }
}

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
writeFileSync(
  "src/core/builtFrom.ts",
  `/** Which sources this build is from; made by scripts/writeBuiltFrom.js. */\nexport const VERSION: string = ${JSON.stringify(version)};\nexport const COMMIT: string | null = ${JSON.stringify(commit())};\n`,
);
