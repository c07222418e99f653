/**
 * Files that are mutated, by folder, and the tests that are expected to notice, by path: the test of the same name, then
 * those that import the file, then all of its layer and all attacks, quick ones first. A mutant survives if none of them fails.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

interface Layer {
  readonly group: string;
  /** The folder of its tests. */
  readonly tests: string;
  /** Tests that see most of what changes a number: they run first. */
  readonly first: readonly string[];
}

const kernels: Layer = { group: "kernels", tests: "test/core", first: ["test/core/poisonedMemory"] };

const LAYERS: Readonly<Record<string, Layer>> = {
  assembly: kernels,
  "src/core": kernels,
  "src/snapshot": { group: "release", tests: "test/snapshot", first: ["test/stream/pinned"] },
  "src/stream": { group: "release", tests: "test/stream", first: ["test/stream/pinned"] },
  "src/local": { group: "reports", tests: "test/local", first: [] },
  "src/durable": { group: "durable", tests: "test/durable", first: [] },
  "src/events": { group: "events", tests: "test/events", first: ["test/golden"] },
};

/** Folders whose tests run on the sources alone. */
const TESTS = [...new Set(Object.values(LAYERS).map(({ tests }) => tests)), "test/attacks"];

/** Files of these folders that are not mutated, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "assembly/data.ts": "a list of exports",
  "assembly/heapBase.ts": "a constant of the compiler",
  "assembly/noise.ts": "a list of exports",
  "src/core/choose.ts": "which core runs depends on the platform",
  "src/core/core.ts": "types",
  "src/core/js/index.ts": "a list of methods",
  "src/core/unsafeKey.ts": "calls a library",
  "src/core/wasm/index.ts": "a list of methods",
  "src/core/wasmBytes.ts": "compiled from assembly/",
  "src/core/builtFrom.ts": "written by the build",
  "src/core/software.ts": "constants alone",
  "src/local/anyCoreReporter.ts": "a list of exports",
  "src/stream/system.ts": "types",
  "src/durable/stores/postgres.ts": "its tests start a server",
  "src/durable/stores/redis.ts": "its tests start a server",
  "src/durable/stores/storeTests.ts": "tests",
};

/** All files under the folders, by group, each with the tests that run for it. */
export function allSubjects(): Record<string, Record<string, string[]>> {
  const all = TESTS.flatMap((folder) => filesIn(folder)).filter((file) => file.endsWith(".test.ts"));
  all.push("test/golden.test.ts");
  const importers = importersOf(all);
  const groups: Record<string, Record<string, string[]>> = {};
  for (const [folder, layer] of Object.entries(LAYERS))
    for (const file of filesIn(folder))
      if (file.endsWith(".ts") && !Object.hasOwn(LEFT_OUT, file))
        (groups[layer.group] ??= {})[file] = testsOf(file, folder, layer, all, importers.get(file) ?? []);
  for (const file of Object.keys(LEFT_OUT))
    if (!existsSync(file)) throw new Error(`mutants: ${file}, which is left out, is not there`);
  return groups;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .sort();

/** A test without the suffix that says of which kind it is. */
const stemOf = (test: string): string => test.replace(/(\.slow|\.alone)?\.test\.ts$/, "");
const isQuick = (test: string): boolean =>
  !/\.(slow|alone)\./.test(test) && !test.startsWith("test/attacks/");

/** Which tests import a file. */
function importersOf(tests: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const test of tests)
    for (const [, path] of readFileSync(test, "utf8").matchAll(/from "(\.[^"]+)\.js"/g)) {
      const file = `${normalize(join(dirname(test), path!))}.ts`;
      found.set(file, [...(found.get(file) ?? []), test]);
    }
  return found;
}

function testsOf(
  file: string,
  folder: string,
  { tests, first }: Layer,
  all: readonly string[],
  importers: readonly string[],
): string[] {
  const path = file.slice(folder.length, -".ts".length).replace(/^\/(js|wasm|tables)\//, "/"); // a kernel has one test
  const own = all.filter((test) => stemOf(test) === tests + path);
  const layer = all.filter(
    (test) => (test.startsWith(`${tests}/`) || test.startsWith("test/attacks/")) && !test.includes(".alone."),
  );
  const named = [...own, ...importers];
  const begin = all.filter((test) => first.includes(stemOf(test)));
  const quickFirst = (list: readonly string[]) =>
    [...list].sort((a, b) => Number(isQuick(b)) - Number(isQuick(a)));
  return [...new Set([...begin, ...quickFirst(named), ...quickFirst(layer)])];
}
