/** Every js block of the README runs as it stands, on the built package. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```/gms)].map(
  ([, code]) => code!,
);
// Inside the package's own folder, so that "brume" means this build.
const folder = join(root, "build/readme");

test("there are blocks to run", () => expect(blocks.length).toBeGreaterThan(0));

const run = (code: string, i: number): string => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `block${i}.mjs`);
  writeFileSync(path, code);
  try {
    return execFileSync(process.execPath, [path], { stdio: "pipe", encoding: "utf8" });
  } finally {
    rmSync(path);
  }
};

test.each(blocks.map((code, i) => [i + 1, code] as const))("block %i runs", (i, code) => void run(code, i));

test("the first answer that a reader sees is right", () => {
  const seconds = Array.from({ length: 10_000 }, (_, i) => 4096 + 10_000 + i);
  const truth = seconds.reduce((sum, second) => sum + (40 + 25 * Math.sin(second / 600)) / 10_000, 0);
  expect(blocks[0]).toContain("40 + 25 * Math.sin(second / 600)");
  // The noise has a standard error of about 0.1: 1 is passed once in 10⁹ runs or less.
  expect(Math.abs(Number(/mean ([\d.]+)/.exec(run(blocks[0]!, 0))![1]) - truth)).toBeLessThan(1);
});

test("the number of events that a reader sees is right", () => {
  const counting = blocks.find((code) => code.includes("privateCounter"))!;
  const [, value, low, high] = /12: (-?\d+), between (-?\d+) and (-?\d+)/
    .exec(run(counting, 99))!
    .map(Number);
  // Noise with a standard error of 2.7: 60 is passed once in 10⁸ runs or less.
  expect(Math.abs(value! - 300)).toBeLessThan(60);
  expect(high! - low!).toBeGreaterThan(8);
  expect(high! - low!).toBeLessThan(20);
});
