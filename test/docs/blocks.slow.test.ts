/** Every js block of docs/ runs as it stands, in an empty folder, and prints what its comments say. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolders } from "../durable/support.js";

interface Block {
  readonly page: string;
  readonly code: string;
}
const blocks = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .flatMap((page) =>
    [...readFileSync(join("docs", page), "utf8").matchAll(/^```js\n(.*?)^```/gms)].map(([, code]): Block => ({
      page,
      code: code!,
    })),
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

/** Runs a block of code and returns its output beside the output that its comments promise. */
function run(code: string, i: number): string {
  const place = join(folder, String(i));
  mkdirSync(join(place, "build"), { recursive: true });
  const program = code
    .replaceAll('"brume"', JSON.stringify(library))
    .replaceAll('"brume/node"', JSON.stringify(node));
  writeFileSync(join(place, "block.mjs"), program);
  return execFileSync(process.execPath, ["block.mjs"], { cwd: place, encoding: "utf8" });
}

test("there are blocks to run", () => expect(blocks.length).toBeGreaterThan(12));

test.each(blocks.map(({ page, code }, i) => [i + 1, page, code] as const))(
  "block %i, of %s, prints what it says",
  (i, _, code) => {
    const printed = run(code, i);
    for (const [, said] of code.matchAll(/console\.log\(.*\); \/\/ (?:… )?(.*)$/gm))
      expect(printed).toContain(said);
  },
);
