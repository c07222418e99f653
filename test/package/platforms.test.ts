/** The packed tarball on every runtime, compiler and test runner that the README names. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { installTools, toolFolder, toolPath } from "../support/tools.js";

const app = inject("app");
const execute = promisify(execFile);
const run = async (file: string, args: readonly string[], cwd = app, env = {}) =>
  (await execute(file, args, { cwd, env: { ...process.env, ...env } })).stdout;

beforeAll(installTools, 600_000);

/** Publishes on both cores with one seed: every runtime must print the same numbers. */
const PROGRAM = `
  const results = ["wasm", "js"].map((core) => {
    const stream = privateStream({ epsilon: 1, max: 100, threshold: 50, maxRange: 4096, core, unsafeSeed: "anywhere" });
    const published = stream.pushMany(Float64Array.from({ length: 1000 }, (_, i) => (i * 37) % 90));
    return { core: stream.statement().core.name, first: published[0], sum: stream.range(0, 1000).sum };
  });
  const device = reporter({ epsilon: 1, max: 100 });
  console.log(JSON.stringify({ results, version: device.report(5).version }));
`;
const IMPORTS = `import { privateStream } from "brume"; import { reporter } from "brume/reporter";`;

describe("runtimes", () => {
  const file = join(app, "program.mjs");
  let expected: unknown;

  beforeAll(async () => {
    writeFileSync(file, IMPORTS + PROGRAM);
    expected = JSON.parse(await run(process.execPath, [file]));
  });

  test("both cores agree here", () => {
    const { results } = expected as { results: [{ sum: number }, { sum: number }] };
    expect(results[0].sum).toBe(results[1].sum);
  });

  test.each([
    ["Node 20", "node-20", []],
    ["Node 22", "node-22", []],
    ["Node 24", "node-24", []],
    ["Node 26", "node-26", []],
    ["Bun", "bun", ["run"]],
    ["Deno", "deno", ["run", "--no-lock", "--node-modules-dir=manual", "--allow-read", "--allow-env"]],
  ] as const)("%s", async (_, tool, options) => {
    expect(JSON.parse(await run(toolPath(tool), [...options, file]))).toEqual(expected);
  });

  test.each(["node-20", "node-22", "node-24", "node-26"] as const)("require on %s", async (tool) => {
    const script = `const { privateStream } = require("brume"); const { reporter } = require("brume/reporter"); ${PROGRAM}`;
    const required = join(app, "required.cjs");
    writeFileSync(required, script);
    expect(JSON.parse(await run(toolPath(tool), ["--no-warnings", required]))).toEqual(expected);
  });

  test("engines names the first versions that were run", () => {
    const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { engines: { node: string } };
    expect(engines.node).toBe("^20.19.0 || >=22.12.0");
  });
});

const DENO = ["run", "--no-lock", "--node-modules-dir=manual", "--allow-all"] as const;

/** Every rule for stores, on the stores that need no server, and a stream that is opened three times. */
const STORES = `
  import { storeTests } from "brume/store-tests";
  import { fileStore, sqliteStore } from "brume/node";
  import { openStream } from "brume";
  import { mkdtempSync, rmSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  const folder = mkdtempSync(join(tmpdir(), "brume-stores-"));
  let made = 0;
  const stores = { file: async (at) => fileStore(at), sqlite: (at) => sqliteStore(at + ".db") };
  const passed = {};
  for (const kind of process.argv.slice(2)) {
    passed[kind] = 0;
    for (const { name, run } of storeTests) {
      const at = join(folder, kind + made++);
      await run(async () => ({ store: await stores[kind](at), again: () => stores[kind](at) })).catch((reason) => {
        throw new Error(kind + ": " + name, { cause: reason });
      });
      passed[kind]++;
    }
    const options = { name: "kept", key: new Uint8Array(32).fill(9), epsilon: 1, max: 100, threshold: 20 };
    for (let i = 0; i < 3; i++) {
      const stream = await openStream({ ...options, store: await stores[kind](join(folder, kind)) });
      await stream.pushMany(Float64Array.of(1, 2, 3));
      passed[kind + " received"] = stream.received;
      await stream.close();
    }
  }
  rmSync(folder, { recursive: true });
  console.log(JSON.stringify({ passed, all: storeTests.length }));
`;

describe("durable stores and the command line", () => {
  test.each([
    ["Node 20", "node-20", [], ["file"]],
    ["Node 24", "node-24", ["--no-warnings"], ["file", "sqlite"]],
    ["Node 26", "node-26", ["--no-warnings"], ["file", "sqlite"]],
    ["Bun", "bun", ["run"], ["file", "sqlite"]],
    ["Deno", "deno", DENO, ["file", "sqlite"]],
  ] as const)("%s: stores", async (_, tool, options, kinds) => {
    const file = join(app, `stores-${tool}.mjs`);
    writeFileSync(file, STORES);
    const { passed, all } = JSON.parse(await run(toolPath(tool), [...options, file, ...kinds])) as {
      passed: Record<string, number>;
      all: number;
    };
    for (const kind of kinds)
      expect([kind, passed[kind], passed[`${kind} received`]]).toEqual([kind, all, 9]);
  });

  test.each([
    ["Bun", "bun", ["run"]],
    ["Deno", "deno", DENO],
  ] as const)("%s: brume release prints what it prints on Node", async (_, tool, options) => {
    const input = join(app, "numbers.txt");
    writeFileSync(input, Array.from({ length: 300 }, (_, i) => `${(i * 37) % 90}`).join("\n"));
    const command = [
      ...["node_modules/brume/dist/lib/cli/main.js", "release", input, "--epsilon", "1", "--max", "90"],
      ...["--threshold", "90", "--unsafe-seed", "anywhere"],
    ];
    const expected = await run(process.execPath, command);
    expect(expected.split("\n").length).toBeGreaterThan(300);
    expect(await run(toolPath(tool), [...options, ...command])).toBe(expected);
  });
});

test("Cloudflare Workers: the kernels are a module compiled beforehand, with the answers of Node", async () => {
  const folder = join(app, "worker");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "worker.mjs"),
    `import { privateStream } from "brume";
     export default {
       fetch() {
         const results = ["wasm", "js"].map((core) => {
           const stream = privateStream({ epsilon: 1, max: 100, threshold: 50, maxRange: 4096, core, unsafeSeed: "anywhere" });
           const published = stream.pushMany(Float64Array.from({ length: 1000 }, (_, i) => (i * 37) % 90));
           return { core: stream.statement().core.name, first: published[0], sum: stream.range(0, 1000).sum };
         });
         const secret = privateStream({ epsilon: 1, max: 100, threshold: 50 });
         return Response.json({ results, private: secret.statement().private, pushed: typeof secret.push(3) });
       },
     };`,
  );
  // As a deployment bundles it: .wasm files are copied and imported as modules.
  await build({
    ...{
      entryPoints: [join(folder, "worker.mjs")],
      outdir: join(folder, "out"),
      bundle: true,
      format: "esm",
    },
    ...{ conditions: ["workerd"], loader: { ".wasm": "copy" }, assetNames: "[name]", logLevel: "silent" },
  });
  writeFileSync(
    join(folder, "run.mjs"),
    `import { createRequire } from "node:module";
     const { Miniflare } = createRequire(${JSON.stringify(join(toolFolder, "package.json"))})("miniflare");
     const worker = new Miniflare({
       compatibilityDate: "2026-07-01",
       modulesRoot: ${JSON.stringify(join(folder, "out"))},
       modules: [
         { type: "ESModule", path: ${JSON.stringify(join(folder, "out/worker.js"))} },
         { type: "CompiledWasm", path: ${JSON.stringify(join(folder, "out/noise.wasm"))} },
         { type: "CompiledWasm", path: ${JSON.stringify(join(folder, "out/data.wasm"))} },
       ],
     });
     console.log(await (await worker.dispatchFetch("http://worker.test/")).text());
     await worker.dispose();`,
  );
  const found = JSON.parse(await run(toolPath("node-24"), [join(folder, "run.mjs")])) as {
    results: { core: string }[];
  };
  writeFileSync(join(app, "here.mjs"), IMPORTS + PROGRAM);
  const { results } = JSON.parse(await run(process.execPath, [join(app, "here.mjs")])) as typeof found;
  expect(found).toEqual({ results, private: true, pushed: "number" });
  expect(found.results.map(({ core }) => core)).toEqual(["wasm", "js"]);
});

describe("types, without skipLibCheck", () => {
  const folder = join(inject("researchApp"), "typed");

  beforeAll(() => {
    mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
    for (const name of ["@types/node", "undici-types"])
      symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(
      join(folder, "program.ts"),
      `import { aggregator, openHub, openStream, plan, privateStream, type RangeAnswer } from "brume";
       import { fileStore, nodeTransform } from "brume/node";
       import { reporter } from "brume/reporter";
       import { comparison } from "brume-research";
       const stream = privateStream({ epsilon: 1, max: 10 });
       export const published: number | undefined = stream.push(1);
       export const answer: RangeAnswer = stream.range(0, 0);
       export { aggregator, comparison, fileStore, nodeTransform, openHub, openStream, plan, reporter };`,
    );
  });

  test.each([
    ["typescript-5.0", "node10", "commonjs"],
    ["typescript-5.0", "node16", "node16"],
    ["typescript-5.0", "bundler", "esnext"],
    ["typescript-7", "node16", "node16"],
    ["typescript-7", "bundler", "esnext"],
  ] as const)("%s, moduleResolution %s", async (tool, moduleResolution, module) => {
    const compilerOptions = {
      ...{ target: "es2022", lib: ["es2022", "dom"], types: ["node"], strict: true, noEmit: true },
      ...{ module, moduleResolution },
    };
    const config = join(folder, `${tool}.${moduleResolution}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    expect(await run(process.execPath, [toolPath(tool), "-p", config])).toBe("");
  });
});

test("Jest 30, with the two lines of configuration that CONTRIBUTING.md gives", async () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const [, transform, options] = /"transform": (\{\})[\s\S]*?NODE_OPTIONS=(\S+) jest/.exec(text)!;
  const folder = join(app, "jested");
  mkdirSync(folder);
  const jest = { transform: JSON.parse(transform!) as object, rootDir: folder };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", jest }));
  writeFileSync(
    join(folder, "stream.test.js"),
    `import { privateStream } from "brume";
     test("publishes", () => {
       const stream = privateStream({ epsilon: 1, max: 100, threshold: 50 });
       expect(stream.push(3)).toEqual(expect.any(Number));
     });`,
  );
  const { stderr } = await execute(process.execPath, [...options!.split(" "), toolPath("jest")], {
    cwd: folder,
  });
  expect(stderr).toContain("1 passed");
});
