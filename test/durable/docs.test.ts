/** Every js block of these pages runs as it stands, in an empty folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolders } from "./support.js";

const blocks = ["docs/snapshots.md", "docs/events.md"].flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code!),
);
const folder = temporaryFolders()();
const [library, node] = [join(folder, "brume.mjs"), join(folder, "node.mjs")];
const banner = {
  js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
};

beforeAll(async () => {
  for (const [entry, outfile] of [
    ["src/index.ts", library],
    ["src/node.ts", node],
  ] as const)
    await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", banner });
});

/** What the block prints, next to what its comments say that it prints. */
function run(code: string, i: number): string {
  const place = join(folder, String(i));
  mkdirSync(join(place, "build"), { recursive: true });
  const program = code
    .replaceAll('"brume"', JSON.stringify(library))
    .replaceAll('"brume/node"', JSON.stringify(node));
  writeFileSync(join(place, "block.mjs"), program);
  return execFileSync(process.execPath, ["block.mjs"], { cwd: place, encoding: "utf8" });
}

test("there are blocks to run", () => expect(blocks.length).toBe(9));

test.each(blocks.map((code, i) => [i + 1, code] as const))("block %i prints what it says", (i, code) => {
  const printed = run(code, i);
  for (const [, said] of code.matchAll(/console\.log\(.*\); \/\/ (?:… )?(.*)$/gm))
    expect(printed).toContain(said);
});
