/** Imports point one way, and the linter and the module graph both know it. */
import { build } from "esbuild";
import { ESLint } from "eslint";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import tseslint from "typescript-eslint";
import { expect, test } from "vitest";

/** Rules about types need the whole program; the rule under test needs one line. */
const eslint = new ESLint({
  overrideConfig: [
    tseslint.configs.disableTypeChecked,
    { languageOptions: { parserOptions: { projectService: false } } },
  ],
});

const complaints = async (file: string, imported: string) => {
  const [result] = await eslint.lintText(`import "${imported}";\n`, { filePath: file });
  return result!.messages.map((message) => message.ruleId);
};

const FORBIDDEN = [
  ["src/core/random.ts", "../stream/holdoutStream.js"],
  ["src/core/js/chacha.ts", "../../local/em.js"],
  ["src/core/choose.ts", "../index.js"],
  ["src/snapshot/snapshot.ts", "../stream/options.js"],
  ["src/stream/holdoutStream.ts", "../adapters/node.js"],
  ["src/stream/holdoutStream.ts", "../../research/metrics.js"],
  ["src/stream/holdoutStream.ts", "../events/kinds.js"],
  ["src/events/kinds.ts", "../durable/hub/hub.js"],
  ["src/local/reporter.ts", "../stream/holdoutStream.js"],
  ["src/adapters/web.ts", "../durable/hub/hub.js"],
  ["src/durable/hub/hub.ts", "../../cli/main.js"],
  ["src/durable/journal/journal.ts", "../hub/hub.js"],
  ["src/durable/journal/journal.ts", "../eventHub/commitQueue.js"],
  ["src/durable/journal/journal.ts", "../../cli/main.js"],
  ["src/index.ts", "../research/metrics.js"],
] as const;

const ALLOWED = [
  ["src/stream/holdoutStream.ts", "../core/choose.js"],
  ["src/durable/hub/hub.ts", "../../stream/holdoutStream.js"],
  ["src/durable/eventHub/eventHub.ts", "../journal/journal.js"],
  ["research/systems/flat.ts", "../../src/stream/publisher.js"],
  ["src/core/js/chacha.ts", "./index.js"],
] as const;

test.each(FORBIDDEN)("%s must not import %s", async (file, imported) => {
  expect(await complaints(file, imported)).toEqual(["no-restricted-imports"]);
});

test.each(ALLOWED)("%s may import %s", async (file, imported) => {
  expect(await complaints(file, imported)).toEqual([]);
});

test("the files that these rules are tried on are there", () => {
  const files = [...FORBIDDEN, ...ALLOWED].flatMap(([file, imported]) => [
    file,
    join(dirname(file), imported).replace(/\.js$/, ".ts"),
  ]);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

/** Module → the modules it imports at run time; types are gone. */
type Graph = Record<string, string[]>;

/** The first cycle met walking depth first, as a path, or `undefined`. */
function findCycle(graph: Graph): string[] | undefined {
  const done = new Set<string>();
  const walk = (module: string, path: string[]): string[] | undefined => {
    if (path.includes(module)) return [...path.slice(path.indexOf(module)), module];
    if (done.has(module)) return undefined;
    for (const next of graph[module] ?? []) {
      const cycle = walk(next, [...path, module]);
      if (cycle !== undefined) return cycle;
    }
    done.add(module);
    return undefined;
  };
  for (const module of Object.keys(graph)) {
    const cycle = walk(module, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

test("a cycle is found", () => {
  expect(findCycle({ a: ["b", "c"], b: [], c: ["d"], d: ["b", "c"] })).toEqual(["c", "d", "c"]);
});

test("no module of src imports itself through others", async () => {
  const entryPoints = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `src/${path}`);
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: "build",
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  const graph = Object.fromEntries(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [path, imports.map((to) => to.path)]),
  );
  expect(Object.keys(graph)).toEqual(expect.arrayContaining(entryPoints));
  expect(findCycle(graph)).toBeUndefined();
});
