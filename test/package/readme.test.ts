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

test.each(blocks.map((code, i) => [i + 1, code] as const))("block %i runs", (i, code) => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `block${i}.mjs`);
  writeFileSync(path, code);
  try {
    execFileSync(process.execPath, [path], { stdio: "pipe" });
  } finally {
    rmSync(path);
  }
});
