/**
 * How long until Brume is there? `brume --version` against bare node, `import "brume"` in Node against the same modules in
 * files of their own, and the first private number in a page, import included. Least of several turns.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";
import { row, type Row } from "./harness.js";
import { buildCli, fileUrl, leastOf, shellMs } from "./processes.js";

const ROUNDS = 15;

/** Milliseconds of processor time that a fresh process takes for an import. */
function importMs(file: string): number {
  const program = `const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const before = used();
await import(${JSON.stringify(fileUrl(file))});
console.log(used() - before);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", program]));
}

/** A page that imports the library and publishes its first number: θ is chosen from 16 values. */
const PAGE = `<!doctype html><script type="module">
const start = performance.now();
const { privateStream } = await import("/brume.js");
const imported = performance.now();
const stream = privateStream({ epsilon: 1, max: 100, holdout: 16, maxRange: 4096 });
for (let i = 0; i < 16; i++) stream.push(i);
if (stream.push(50) === undefined) throw new Error("expected a number");
globalThis.answer = { whole: performance.now() - start, first: performance.now() - imported };
</script>`;

async function firstNumber(folder: string): Promise<{ whole: number; first: number }> {
  await build({
    ...{ entryPoints: ["src/index.ts"], outfile: join(folder, "page/brume.js") },
    ...{ bundle: true, format: "esm", target: "es2022", minify: true, logLevel: "warning" },
  });
  const browser = await launch(await chromiumPath());
  const server = await serve({ files: { "/page.html": PAGE }, folders: { "/": join(folder, "page") } });
  const least = { whole: Infinity, first: Infinity };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const page = await (await browser.newContext()).newPage(); // a context of its own: nothing is cached
      await page.goto(`${server.url}page.html`);
      const measured = await page.waitForFunction(
        () => (globalThis as { answer?: { whole: number; first: number } }).answer,
      );
      const { whole, first } = (await measured.jsonValue())!;
      least.whole = Math.min(least.whole, whole);
      least.first = Math.min(least.first, first);
      await page.context().close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
  return least;
}

export async function* rows(): AsyncGenerator<Row> {
  process.stderr.write("start: fresh processes and pages\n");
  const folder = mkdtempSync(join(tmpdir(), "brume-bench-"));
  try {
    const main = await buildCli(resolve("build/bench"));
    const modules = resolve("build/bench/modules");
    await build({ entryPoints: ["src/**/*.ts"], outdir: modules, format: "esm", logLevel: "warning" });
    const used = leastOf(ROUNDS, {
      bare: () => shellMs(process.execPath, ["-e", "0"]),
      version: () => shellMs(process.execPath, [main, "--version"]),
      help: () => shellMs(process.execPath, [main, "--help"]),
      modules: () => importMs(join(modules, "index.js")),
      bundle: () => importMs(resolve(main, "../../index.js")),
    });
    yield row("start", "brume --version; limit: bare node", used.version.ms, null, null, used.bare.ms);
    yield row("start", "brume --help; limit: bare node", used.help.ms, null, null, used.bare.ms);
    yield row(
      "start",
      'import "brume" in Node; naive: every module in a file of its own',
      used.bundle.ms,
      null,
      used.modules.ms,
      null,
    );
    const { whole, first } = await firstNumber(folder);
    yield row("start", "first private number in a page, after import", first, null, null, null);
    yield row("start", "first private number in a page, import included", whole, null, null, null);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
