/**
 * Streams that were stored must go on with the noise that they began with. Here that noise is pinned, and so are whole
 * snapshots. If one of these tests fails, the change is a mistake, or a version has to be raised: `npm run golden`.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chooseCore } from "../src/core/choose.js";
import { NOISE_VERSION } from "../src/core/random.js";
import { restore } from "../src/index.js";
import { FORMAT_VERSION } from "../src/snapshot/snapshot.js";
import { draws, type Golden, PINNED, published, SNAPSHOT_KEY } from "./support/golden.js";

const golden = JSON.parse(readFileSync("test/vectors/golden.json", "utf8")) as Golden;

test("the versions are those of the file", () => {
  expect([golden.format, golden.noise]).toEqual([FORMAT_VERSION, NOISE_VERSION]);
});

describe.each(["wasm", "js"] as const)("%s", (core) => {
  test("a key leads to the same draws as ever", () => {
    expect(draws(chooseCore(core))).toEqual(golden.draws);
  });

  test("every draw is pinned: one word further, all of them differ", () => {
    const moved = draws(chooseCore(core), 1);
    const same = Object.keys(golden.draws).filter((name) => moved[name] === golden.draws[name]);
    expect(same).toEqual(["key"]);
  });

  test.each(Object.keys(PINNED))("%s: published numbers are the same as ever", (name) => {
    const pinned = PINNED[name]!;
    expect(published(pinned.begin(core), 0, pinned.steps)).toBe(golden.streams[name]!.published);
  });

  test.each(Object.keys(PINNED))("%s: old snapshots go on", async (name) => {
    const pinned = PINNED[name]!;
    for (const { before, rest, bytes } of golden.streams[name]!.snapshots) {
      const fed = await pinned.resume(Uint8Array.from(Buffer.from(bytes, "base64")), core, before);
      expect({ before, rest: published(fed, before, pinned.steps) }).toEqual({ before, rest });
    }
  });
});

test("a snapshot of another version is refused, whichever of the two differs", async () => {
  const options = {
    epsilon: 1,
    max: 100,
    holdout: 512,
    maxRange: 4096,
    unsafeSeed: "golden",
    name: "golden",
  };
  for (const [place, what] of [
    [5, "format"],
    [6, "noise"],
  ] as const) {
    const bytes = Uint8Array.from(Buffer.from(golden.streams["defaults"]!.snapshots[0]!.bytes, "base64"));
    bytes[place]! += 1;
    await expect(restore(bytes, SNAPSHOT_KEY, options)).rejects.toThrow(
      new RegExp(`snapshot: expected ${what} version \\d+, got \\d+; restore it with`),
    );
  }
});
