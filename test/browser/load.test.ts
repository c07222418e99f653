/** The installed package in Chromium: every way to load it, and every policy it may meet there. */
import { build as bundle, transformSync } from "esbuild";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { build as viteBuild } from "vite";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch, open } from "../support/chromium.js";
import { kernelAnswers } from "./kernels.js";
import { program } from "./program.js";
import { serve, type Site } from "../support/server.js";

const installed = join(inject("app"), "node_modules/brume");
const inNode = (await import(pathToFileURL(join(installed, "dist/lib/index.js")).href)) as Parameters<
  typeof program
>[0];
const expected = program(inNode);

let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

/** Opens the page of `site`, checks for errors and stray requests, and returns its `globalThis.answer`. */
async function answerOf(site: Site): Promise<unknown> {
  await using server = await serve(site);
  const { page, errors, strayRequests } = await open(browser, server.url);
  const answer: unknown = await page.evaluate("globalThis.answer");
  expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await page.context().close();
  return answer;
}

/** A site without a bundler: the package's own file, the program, and a page whose script is `script`. */
const plainSite = (script: string, policy?: string): Site => ({
  folders: { "/brume/": join(installed, "dist/browser") },
  files: {
    "/index.html": '<!doctype html><script type="module" src="/page.js"></script>',
    "/page.js": script,
    "/program.js": transformSync(readFileSync("test/browser/program.ts", "utf8"), { loader: "ts" }).code,
  },
  headers: policy === undefined ? {} : { "content-security-policy": policy },
});

const CALL = `
  import * as brume from "/brume/brume.js";
  import { program } from "/program.js";
  globalThis.answer = program(brume);`;

/** Asks a worker made from `url` and waits for its one message. */
const askWorker = (url: string) => `
  globalThis.answer = new Promise((resolve, reject) => {
    const worker = new Worker(${url}, { type: "module" });
    worker.onmessage = (event) => resolve(event.data);
    worker.onerror = (event) => reject(new Error(event.message));
  });`;

test("a plain module script: no bundler, no import map", async () => {
  expect(expected.core).toBe("wasm");
  expect(new Set(expected.published).size).toBeGreaterThan(100);
  expect(await answerOf(plainSite(CALL))).toEqual(expected);
});

test("a module worker", async () => {
  const site = plainSite(askWorker('"/worker.js"'));
  const worker = `${CALL} postMessage(globalThis.answer);`;
  expect(await answerOf({ ...site, files: { ...site.files, "/worker.js": worker } })).toEqual(expected);
});

test("a Vite production build, on the page and in a worker", async () => {
  const root = join(inject("app"), "vite");
  const call = CALL.replace("/brume/brume.js", "brume").replace("/program.js", "./program.ts");
  mkdirSync(root);
  cpSync("test/browser/program.ts", join(root, "program.ts"));
  writeFileSync(join(root, "index.html"), '<!doctype html><script type="module" src="./page.js"></script>');
  writeFileSync(join(root, "worker.js"), `${call} postMessage(globalThis.answer);`);
  writeFileSync(
    join(root, "page.js"),
    `${call}
    const onPage = globalThis.answer;
    ${askWorker('new URL("./worker.js", import.meta.url)')}
    globalThis.answer = globalThis.answer.then((inWorker) => ({ onPage, inWorker }));`,
  );
  await viteBuild({ root, configFile: false, logLevel: "error", worker: { format: "es" } });
  const answer = await answerOf({ folders: { "/": join(root, "dist") } });
  expect(answer).toEqual({ onPage: expected, inWorker: expected });
});

test("a strict policy that allows wasm runs wasm", async () => {
  const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";
  expect(await answerOf(plainSite(CALL, policy))).toEqual(expected);
});

test("a strict policy that forbids wasm: the js core answers the same, and wasm says why it cannot", async () => {
  const script = `${CALL}
    try {
      brume.privateStream({ epsilon: 1, max: 10, threshold: 5, core: "wasm" });
    } catch (error) {
      globalThis.answer = { ...globalThis.answer, message: error.message, cause: error.cause.name };
    }`;
  const policy = "default-src 'none'; script-src 'self'";
  expect(await answerOf(plainSite(script, policy))).toEqual({
    ...expected,
    core: "js",
    message: expect.stringMatching(/^core: "wasm" cannot be compiled .* use "auto" or "js"$/) as string,
    cause: "CompileError",
  });
});

test("two imports share one instance of each of the two wasm modules", async () => {
  const script = `
    let instances = 0;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...args) { instances++; return new Instance(...args); };
    globalThis.answer = Promise.all([import("/brume/brume.js"), import("/brume/brume.js")]).then(([one, two]) => {
      for (const brume of [one, two]) brume.privateStream({ epsilon: 1, max: 10, threshold: 5, core: "wasm" });
      return { instances };
    });`;
  expect(await answerOf(plainSite(script))).toEqual({ instances: 2 });
});

test("every kernel answers in Chromium as in Node, bit for bit, on both cores", async () => {
  const { outputFiles } = await bundle({
    stdin: {
      contents: `import { kernelAnswers } from "./kernels.ts";
        globalThis.answer = { wasm: kernelAnswers("wasm"), js: kernelAnswers("js") };`,
      resolveDir: "test/browser",
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  const answer = await answerOf(plainSite(outputFiles[0]!.text));
  expect(answer).toEqual({ wasm: kernelAnswers("wasm"), js: kernelAnswers("js") });
  expect({ ...kernelAnswers("js"), core: "wasm" }).toEqual(kernelAnswers("wasm"));
});
