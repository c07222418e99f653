/** The diagrams of ARCHITECTURE.md name the files that the default path runs: these, and no others. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openHub, privateStream } from "../src/index.js";
import { key, plainStore } from "./durable/support.js";
import { executedFiles } from "./support/executed.js";

const text = readFileSync("ARCHITECTURE.md", "utf8");
const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 1);

/** Files of a folder that a section's diagram names; the name of a folder within it holds for the rest of its line. */
function drawn(section: string, folder: string): string[] {
  const [, diagram] = text.split(`## ${section}\n`)[1]!.split("```");
  const files = diagram!.split("\n").flatMap((line) => {
    let within = "";
    return [...line.matchAll(/[\w/]+(?:\.ts\b|\/(?= ))/g)].flatMap(([name]) => {
      if (name.endsWith("/")) within = name;
      return name.endsWith("/") ? [] : [name.startsWith("src/") ? name : `${folder}${within}${name}`];
    });
  });
  return [...new Set(files)].filter((file) => file.startsWith(folder)).sort();
}

const inFolder = (files: readonly string[], folder: string): string[] =>
  files.filter((file) => file.startsWith(folder));

test("the way of a value", async () => {
  // Of no other test, so that no table has been made already.
  const stream = privateStream({ epsilon: 0.97, max: 103, unsafeSeed: "way" });
  const files = await executedFiles(() => {
    for (let i = 0; i < 75_000; i++) stream.push(i % 90);
    stream.range(0, 4096);
  });
  expect(inFolder(files, "src/stream/")).toEqual(drawn("The way of a value", "src/stream/"));
  expect(files).toEqual(expect.arrayContaining(["src/core/quantise.ts"]));
});

test("the way of an event", async () => {
  const clock = { now: START };
  const stream = privateStream({
    ...{ of: "sum", epsilon: 0.97, max: 103, every: "1h", perPerson: { events: 4 }, unsafeSeed: "way" },
    clock: () => clock.now,
  });
  const files = await executedFiles(() => {
    for (let hour = 0; hour < 16 * 24; hour++) {
      clock.now = START + hour * HOUR;
      for (let i = 0; i < 40; i++) stream.add(i % 90, { person: `p${i}` });
      stream.advance();
    }
    expect(stream.last("1d").value).not.toBeNull();
  });
  expect(inFolder(files, "src/events/")).toEqual(drawn("The way of an event", "src/events/"));
});

test("the way of an event into a hub", async () => {
  const metrics = {
    visits: { of: "count", epsilon: 0.97, every: "1h", perPerson: { events: 4 }, keys: ["a"] },
  } as const;
  const hub = openHub({ metrics, store: plainStore(), key, clock: () => START, commitEvery: 0 });
  await hub.add("visits", "a", undefined, { person: "p" }); // opens the hub
  const files = await executedFiles(() => hub.add("visits", "a", undefined, { person: "q" }));
  await hub.close();
  expect(inFolder(files, "src/durable/")).toEqual(drawn("The way of an event into a hub", "src/durable/"));
});

test("a file that does not run, or is not drawn, is noticed", async () => {
  const names = drawn("The way of a value", "src/stream/");
  expect(names).toContain("src/stream/release/blockPublisher.ts");
  expect(names).not.toContain("src/stream/holdout/noisyMax.ts"); // runs with variant "paper" alone
  const paper = privateStream({ epsilon: 1, max: 100, variant: "paper", holdout: 1000, unsafeSeed: "way" });
  const files = await executedFiles(() => {
    for (let i = 0; i < 3000; i++) paper.push(i % 90);
  });
  expect(files).toContain("src/stream/holdout/noisyMax.ts");
});
