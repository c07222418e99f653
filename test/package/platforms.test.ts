/** The packed tarball on every runtime, compiler and test runner that the README names. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { toolFolder, toolPath } from "../support/tools.js";

const app = inject("app");
const execute = promisify(execFile);
const run = async (file: string, args: readonly string[], cwd = app, env = {}) =>
  (await execute(file, args, { cwd, env: { ...process.env, ...env } })).stdout;

beforeAll(() => void toolFolder(), 600_000);

/** Publishes on both cores with one seed: every runtime must print the same numbers. */
const PROGRAM = `
  const results = ["wasm", "js"].map((core) => {
    const stream = privateStream({ epsilon: 1, max: 100, threshold: 50, maxRange: 4096, core, unsafeSeed: "anywhere" });
    const published = stream.pushMany(Float64Array.from({ length: 1000 }, (_, i) => (i * 37) % 90));
    return { core: stream.statement().core.name, first: published[0], sum: stream.range(0, 1000).sum };
  });
  const device = reporter({ epsilon: 1, max: 100, phase: "learn" });
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

describe("types, without skipLibCheck", () => {
  const folder = join(app, "typed");

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
       import { comparison } from "brume/research";
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
