/**
 * Writes dist/ from the sources, after `npm run build:wasm`: `tsx scripts/build.ts [library] [packages]`, both by default.
 * The library is declarations, files for Node and bundlers, bundles for pages without a bundler, and a build for Cloudflare
 * Workers.
 */
import { build, type BuildOptions } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ESM: BuildOptions = { bundle: true, format: "esm", target: "es2022", logLevel: "warning" };

const run = (command: string, ...args: string[]): void =>
  void execFileSync(command, args, { stdio: "inherit" });

/** The library and the command line for Node and bundlers, in chunks that they share. */
export async function buildLibrary(outdir: string): Promise<void> {
  await build({
    ...ESM,
    entryPoints: {
      index: "src/index.ts",
      node: "src/node.ts",
      storeTests: "src/durable/stores/storeTests.ts",
      thread: "src/durable/workers/thread.ts",
      reporter: "src/reporter.ts",
      device: "src/device.ts",
      kernels: "src/core/wasm/source.ts",
      "cli/main": "src/cli/main.ts",
      "cli/run": "src/cli/run.ts",
    },
    outdir,
    ...{ splitting: true, platform: "browser", external: ["node:*"], charset: "utf8" },
    target: ["es2022", "node20"],
  });
}

/** Files that a page loads by their address, as modules and, for devices, as scripts. */
async function buildBrowser(): Promise<void> {
  const devices = ["src/reporter.ts", "src/device.ts"];
  await build({ ...ESM, entryPoints: ["src/index.ts"], minify: true, outfile: "dist/browser/brume.js" });
  await build({ ...ESM, entryPoints: devices, minify: true, charset: "utf8", outdir: "dist/browser" });
  await build({
    ...{ ...ESM, entryPoints: devices, minify: true, outdir: "dist/browser" },
    ...{ format: "iife", globalName: "brume", outExtension: { ".js": ".iife.js" } },
  });
}

/** For Cloudflare Workers, which forbid compiling at run time: kernels that the platform compiles at deployment. */
function buildWorkerd(): void {
  mkdirSync("dist/workerd", { recursive: true });
  for (const module of ["noise.wasm", "data.wasm"]) copyFileSync(`build/${module}`, `dist/workerd/${module}`);
  writeFileSync(
    "dist/workerd/index.js",
    `import noise from "./noise.wasm";
import data from "./data.wasm";
import { provideKernels } from "../lib/kernels.js";
provideKernels(noise, data);
export * from "../lib/index.js";
`,
  );
}

async function main(parts: readonly string[]): Promise<void> {
  if (parts.includes("library")) {
    rmSync("dist", { recursive: true, force: true });
    run("tsc", "-p", "tsconfig.build.json");
    run("node", "scripts/plainTypes.js");
    await buildLibrary("dist/lib");
    await buildBrowser();
    buildWorkerd();
  }
  if (parts.includes("packages")) {
    rmSync("research/dist", { recursive: true, force: true });
    run("npm", "run", "--silent", "build", "--workspaces", "--if-present");
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const parts = process.argv.slice(2);
  await main(parts.length > 0 ? parts : ["library", "packages"]);
}
