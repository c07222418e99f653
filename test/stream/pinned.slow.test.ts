/**
 * All that small streams of every kind say is as it was: published bits, answers, error bars, statements, plans. The other
 * tests say what these numbers have to be; this one sees any change of them. `npm run golden -- --answers` writes them anew.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { plan, restore } from "../../src/index.js";
import { SNAPSHOT_KEY } from "../support/golden.js";
import { closeTo } from "../support/closeTo.js";
import { type Answers, PINNED_STREAMS, plain, type Said, tell } from "../support/pinnedAnswers.js";

const pinned = JSON.parse(readFileSync("test/vectors/answers.json", "utf8")) as Answers;
const other = { wasm: "js", js: "wasm" } as const;

const same = (said: readonly object[], name: string) =>
  expect(plain(said)).toEqual(closeTo(pinned[name]!.said, 1e-9));
/** Replaces the lengths of snapshots by the pinned ones: values pushed one by one are forgotten a tree later, so lengths differ. */
const asLong = (said: readonly Said[], name: string) =>
  said.map((moment, i) => ({ ...moment, bytes: pinned[name]!.said[i]!.bytes }));

describe.each(Object.keys(PINNED_STREAMS))("%s", (name) => {
  const options = PINNED_STREAMS[name]!;

  test("the plan", () => {
    expect(plain(plan(options))).toEqual(closeTo(pinned[name]!.plan, 1e-9));
  });

  test("in batches, on one core", async () => {
    same(await tell(options, "wasm", true), name);
  });

  test("one by one, put away and restored on the other core at every moment", async () => {
    let core: "wasm" | "js" = "js";
    const moved = await tell(options, core, false, async (stream, all) => {
      core = other[core];
      return restore(await stream.snapshot(SNAPSHOT_KEY), SNAPSHOT_KEY, { ...all, core });
    });
    same(asLong(moved, name), name);
  });
});
