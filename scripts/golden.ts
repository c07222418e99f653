/**
 * Writes test/vectors/golden.json: what keys lead to and what snapshots mean, for the versions that the code has now.
 *
 *     npm run golden
 *     npm run golden -- --answers
 *
 * With --answers it writes test/vectors/answers.json: what small streams of every kind say. Read its difference: every
 * number that changes is one that callers see.
 *
 * A file of the same versions is not written over: raise NOISE_VERSION (src/core/random.ts) where noise changed, or
 * FORMAT_VERSION (src/stream/snapshot.ts) where bytes did. Before a version is released, delete the file instead.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { chooseCore } from "../src/core/choose.js";
import { NOISE_VERSION } from "../src/core/random.js";
import { FORMAT_VERSION } from "../src/stream/snapshot.js";
import { type Golden, goldenNow } from "../test/support/golden.js";
import { answersNow } from "../test/support/pinnedAnswers.js";

const FILE = "test/vectors/golden.json";
const ANSWERS = "test/vectors/answers.json";
if (process.argv.includes("--answers")) {
  writeFileSync(ANSWERS, `${JSON.stringify(await answersNow())}\n`);
  console.log(ANSWERS);
  process.exit();
}
if (existsSync(FILE)) {
  const { format, noise } = JSON.parse(readFileSync(FILE, "utf8")) as Golden;
  if (format === FORMAT_VERSION && noise === NOISE_VERSION)
    throw new Error(
      `${FILE} has format ${format} and noise ${noise} already; raise the version that changed`,
    );
}
const golden = await goldenNow(FORMAT_VERSION, NOISE_VERSION, chooseCore("js"));
writeFileSync(FILE, `${JSON.stringify(golden, null, 1)}\n`);
console.log(`${FILE}: format ${FORMAT_VERSION}, noise ${NOISE_VERSION}`);
