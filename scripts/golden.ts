/**
 * Writes test/vectors/golden.json: what keys lead to and what snapshots mean, for the versions that the code has now.
 *
 *     npm run golden
 *     npm run golden -- --answers
 *
 * With --answers it writes test/vectors/answers.json: what small streams of every kind say. Read its difference: every
 * number that changes is one that callers see.
 *
 * In a file of the same versions nothing is written over, and streams that it does not have yet are added. Raise
 * NOISE_VERSION (src/core/random.ts) where noise changed, or FORMAT_VERSION (src/snapshot/snapshot.ts) where bytes did.
 * Before a version is released, delete the file instead.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { chooseCore } from "../src/core/choose.js";
import { NOISE_VERSION } from "../src/core/random.js";
import { FORMAT_VERSION } from "../src/snapshot/snapshot.js";
import { type Golden, goldenNow } from "../test/support/golden.js";
import { answersNow } from "../test/support/pinnedAnswers.js";

const FILE = "test/vectors/golden.json";
const ANSWERS = "test/vectors/answers.json";
if (process.argv.includes("--answers")) {
  writeFileSync(ANSWERS, `${JSON.stringify(await answersNow())}\n`);
  console.log(ANSWERS);
  process.exit();
}
const before = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Golden) : undefined;
const now = await goldenNow(FORMAT_VERSION, NOISE_VERSION, chooseCore("js"));
const sameVersions = before?.format === FORMAT_VERSION && before.noise === NOISE_VERSION;
if (sameVersions && Object.keys(now.streams).every((name) => Object.hasOwn(before.streams, name)))
  throw new Error(
    `${FILE} has format ${FORMAT_VERSION} and noise ${NOISE_VERSION} already; raise the version that changed`,
  );
const golden = sameVersions ? { ...before, streams: { ...now.streams, ...before.streams } } : now;
writeFileSync(FILE, `${JSON.stringify(golden, null, 1)}\n`);
console.log(`${FILE}: format ${FORMAT_VERSION}, noise ${NOISE_VERSION}`);
