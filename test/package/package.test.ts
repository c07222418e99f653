/** The tarball, as npm would publish it: what is inside, and that it loads with its types where Node is. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, inject, test } from "vitest";

/** The output of a program; what it printed becomes the error if it fails. */
async function run(program: string, args: string[], cwd = "."): Promise<string> {
  const failed = (error: { stdout: string; stderr: string }) => {
    throw new Error(`${program} ${args.join(" ")}\n${error.stdout}${error.stderr}`);
  };
  return (await promisify(execFile)(program, args, { cwd }).catch(failed)).stdout;
}

const node = (args: string[], cwd = ".") => run(process.execPath, args, cwd);

const app = inject("app");
const researchApp = inject("researchApp");
const tarball = inject("tarball");
const TARBALLS = [
  ["brume", tarball],
  ["brume-research", inject("researchTarball")],
] as const;

const files = async (tarball: string) =>
  (await run("tar", ["-tzf", tarball]))
    .trim()
    .split("\n")
    .map((path) => path.replace("package/", ""));

test.each(TARBALLS)("publint has nothing to say of %s", async (_, tarball) => {
  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: new Uint8Array(bytes).buffer } });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test("are the types wrong? No", async () => {
  const attw = resolve("node_modules/@arethetypeswrong/cli/dist/index.js");
  // It fails on any problem of its profile; as JSON, since the tables it prints depend on the terminal's width.
  const json = await node([attw, tarball, "--profile", "esm-only", "--format", "json"]);
  const { analysis } = JSON.parse(json) as {
    analysis: {
      entrypoints: Record<
        string,
        { resolutions: Record<string, { resolution?: { isTypeScript: boolean } }> }
      >;
    };
  };
  const typed = Object.entries(analysis.entrypoints).filter(([, { resolutions }]) =>
    ["node16-esm", "bundler"].every((kind) => resolutions[kind]?.resolution?.isTypeScript),
  );
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { exports: object };
  expect(typed.map(([path]) => path)).toEqual(
    Object.keys(manifest.exports).filter((path) => path !== "./package.json"),
  );
});

test("holds the build and documents, and nothing else", async () => {
  const inside = await files(tarball);
  const outside = inside.filter((path) => !/^(dist\/.+\.(js|wasm|d\.ts)|docs\/.+\.(md|svg))$/.test(path));
  expect(outside.sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "llms.txt", "package.json"]);
  expect(inside.filter((path) => path.includes("research"))).toEqual([]);
});

describe("sizes", () => {
  test.each(TARBALLS)("the tarball of %s", (name, tarball) => {
    const most = { brume: 735_000, "brume-research": 300_000 };
    expect(readFileSync(tarball).length).toBeLessThan(most[name]);
  });

  /** Bytes of a page's bundle, minified and gzipped, with both cores. */
  test.each([
    ["{ privateCounter }", 39_800],
    ["{ privateStream }", 78_900],
    ["{ aggregator }", 36_900],
    ["*", 139_500],
  ])("a bundle with %s", async (names, most) => {
    const { outputFiles } = await build({
      stdin: { contents: `export ${names} from "brume"`, resolveDir: app },
      ...{ bundle: true, minify: true, format: "esm", target: "es2022", write: false },
    });
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThan(most);
  });
});

test("an option error that nobody catches prints its message and a line of the library, not a file", async () => {
  const program = 'import { privateStream } from "brume"; privateStream({ epsilon: -1, max: 10 });';
  const said = await run(process.execPath, ["--input-type=module", "--eval", program], app).catch(
    (error: Error) => error.message,
  );
  expect(said).toContain("RangeError: epsilon: expected");
  expect(said.length).toBeLessThan(2000);
});

test("imports, with one wasm instance per module for all imports; counters need one module", async () => {
  const program = `
    let instances = 0;
    const Instance = WebAssembly.Instance;
    WebAssembly.Instance = function (...args) { instances++; return new Instance(...args); };
    const one = await import("brume");
    const two = await import("./node_modules/brume/dist/lib/index.js");
    const options = { epsilon: 1, max: 10, threshold: 5 };
    const counters = [one, two].map((brume) => brume.privateCounter({ epsilon: 1, every: "1h", core: "wasm" }));
    const forCounters = instances;
    const streams = [one.privateStream(options), one.privateStream({ ...options, core: "wasm" }), two.privateStream(options)];
    console.log(JSON.stringify({ forCounters, instances, counters: counters.map((counter) => counter.statement().core), cores: streams.map((stream) => stream.statement().core.name) }));
  `;
  const stdout = await node(["--input-type=module", "--eval", program], app);
  expect(JSON.parse(stdout)).toEqual({
    ...{ forCounters: 1, instances: 2 },
    ...{ counters: ["wasm", "wasm"], cores: ["wasm", "wasm", "wasm"] },
  });
});

test("without WebAssembly the js core takes over", async () => {
  const program = `
    delete globalThis.WebAssembly;
    const { privateStream } = await import("brume");
    const make = (core) => privateStream({ epsilon: 1, max: 10, threshold: 5, core });
    let message;
    try { make("wasm"); } catch (error) { message = error.message; }
    console.log(JSON.stringify({ auto: make("auto").statement().core.name, message }));
  `;
  expect(JSON.parse(await node(["--input-type=module", "--eval", program], app))).toEqual({
    auto: "js",
    message: 'core: "wasm" cannot be compiled on this platform; use "auto" or "js"',
  });
});

test("its Node part has an entry of its own, which shares everything with the main one", async () => {
  const program = `
    import { openStream } from "brume";
    import { nodeTransform, fileStore } from "brume/node";
    const options = { epsilon: 1, max: 10, threshold: 5, name: "s", store: fileStore("state"), key: new Uint8Array(32) };
    const stream = await openStream(options);
    nodeTransform(stream).on("data", async (numbers) => {
      const again = await openStream(options);
      console.log(numbers.length, again.length, numbers[0] === (await again.published(0, 1))[0]);
    }).end(new Float64Array(300));
  `;
  expect(await node(["--input-type=module", "--eval", program], app)).toBe("300 300 true\n");
});

test("a mistake that nobody catches prints its message and a few lines, not the whole library", async () => {
  // Node shows the line of source that threw: with all of a bundle on one line, a quarter of a megabyte.
  const wrong = 'import { privateStream } from "brume"; privateStream({ epsilon: -1, max: 1 });';
  const shown = await node(["--input-type=module", "-e", wrong], app).catch((error: Error) => error.message);
  expect(shown).toContain("epsilon: expected a finite number above 0, got -1");
  expect(shown.length).toBeLessThan(4000);
});

test("its command runs", async () => {
  const stdout = await run(join(app, "node_modules/.bin/brume"), ["--help"]);
  expect(stdout.trim()).not.toBe("");
});

describe("commands of research", () => {
  const main = "node_modules/brume/dist/lib/cli/main.js";

  test.each(["evaluate", "audit", "ldp", "paper"])("%s without brume-research: one line", async (name) => {
    for (const argument of ["--help", "--epsilon"]) {
      const said = await node([main, name, argument], app).catch((error: Error) => error.message);
      expect(said.trim().split("\n").slice(1)).toEqual([
        `brume ${name}: expected the package brume-research, got none; run: npm install brume-research`,
      ]);
    }
  });

  test("shells complete their names without it, and their options with it", async () => {
    const [without, installed] = [
      await node([main, "completion", "bash"], app),
      await node([main, "completion", "bash"], researchApp),
    ];
    expect(without).toContain('audit) options="--help --quiet"');
    expect(installed).toContain('audit) options="--mechanism');
  });

  test("with it they run", async () => {
    const audit = [main, "audit", "--mechanism", "laplace", "--epsilon", "1", "--samples", "2000", "--json"];
    expect(JSON.parse(await node([...audit, "--unsafe-seed", "package"], researchApp))).toMatchObject({
      mechanism: "laplace",
    });
    await node([main, "paper", "--figure", "table1", "--out", "paper"], researchApp);
    expect(readFileSync(join(researchApp, "paper/table1.json"), "utf8")).toContain('"data"');
    expect(await node([main, "ldp", "--help"], researchApp)).toContain("brume ldp");
    writeFileSync(join(researchApp, "values.txt"), "3\n5\n8\n".repeat(200));
    const small = ["--data", "values.txt", "--max", "10", "--holdout", "128", "--max-range", "256"];
    const evaluate = [
      "evaluate",
      ...small,
      "--epsilon",
      "1",
      "--methods",
      "tops,flat",
      "--repeat",
      "2",
      "--json",
    ];
    expect(JSON.parse(await node([main, ...evaluate], researchApp))).toMatchObject({
      results: [{ method: "tops" }, { method: "flat" }],
    });
  });
});

test.each([
  { module: "NodeNext", moduleResolution: "NodeNext" },
  { module: "ESNext", moduleResolution: "Bundler" },
])("types resolve under strict tsc, $moduleResolution", async ({ module, moduleResolution }) => {
  const config = `tsconfig.${moduleResolution}.json`;
  const options = { target: "ES2022", lib: ["ES2022", "DOM"], types: [], strict: true, noEmit: true };
  writeFileSync(
    join(researchApp, config),
    JSON.stringify({ compilerOptions: { ...options, module, moduleResolution }, files: ["types.ts"] }),
  );
  writeFileSync(
    join(researchApp, "types.ts"),
    `import { privateStream, type StreamOptions, type System } from "brume";
     import { comparison } from "brume-research";
     import * as browser from "brume/browser";
     const options: StreamOptions = { epsilon: 1, max: 100, core: "js" };
     const stream: System = privateStream(options);
     export const published: number | undefined = stream.push(1);
     export const same: typeof privateStream = browser.privateStream;
     export const other: System = comparison({ epsilon: 1, max: 100, method: "h2" });
     // @ts-expect-error: a missing option is seen by the compiler
     privateStream({ epsilon: 1 });`,
  );
  await node([resolve("node_modules/typescript/bin/tsc"), "-p", config], researchApp);
});

test("Parquet without the package that reads it: one line says what to install", async () => {
  writeFileSync(join(app, "log.parquet"), "PAR1 and so on");
  const args = ["release", "log.parquet", "--epsilon", "1", "--max", "9", "--column", "ms"];
  await expect(node(["node_modules/brume/dist/lib/cli/main.js", ...args], app)).rejects.toThrow(
    "expected the package hyparquet, which reads Parquet, got none; run: npm install hyparquet",
  );
});
