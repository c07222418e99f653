/**
 * The whole site into one folder: `npm run web -- build [FOLDER [BASE]]`. Pages, documentation, llms.txt with the documents as
 * plain Markdown, and the list that makes it work offline.
 */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { llmsText } from "../scripts/docs/llms.js";
import { buildDocs } from "./docs/build.js";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where the documents are as plain Markdown. */
const PLAIN = "markdown";

/**
 * @param folder emptied first
 * @param base where the site will be on its host; hosts show 404.html at any address, so that it alone must know
 */
export async function buildSite(folder: string, base = "/"): Promise<void> {
  const out = resolve(folder); // Vite would take it as a folder of site/
  rmSync(out, { recursive: true, force: true });
  process.env["NODE_ENV"] = "production"; // a test runner has set another one, and Vite would build for it
  await build({
    configFile: at("vite.config.ts"),
    logLevel: "warn",
    build: { outDir: out, emptyOutDir: true },
  });
  await buildDocs(join(out, "docs"));
  const nowhere = join(out, "404.html");
  writeFileSync(nowhere, readFileSync(nowhere, "utf8").replaceAll('="./', `="${base}`));
  writePlain(out);
  writeServiceWorker(out);
}

/** llms.txt, and the files that it names. */
function writePlain(out: string): void {
  for (const path of ["docs", "research/notes", "examples/tasks"])
    cpSync(path, join(out, PLAIN, path), { recursive: true });
  writeFileSync(
    join(out, "llms.txt"),
    llmsText((path) => `${PLAIN}/${path}`),
  );
}

/** Not kept at the first visit: pages of the documentation, and the picture that other sites show beside a link. */
const LATER = /^(docs\/|card\.jpg$)/;

/** Writes the service worker with a digest of all files of the site: browsers update when its bytes change. */
function writeServiceWorker(out: string): void {
  const files = readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(out, path)).isFile() && !path.endsWith(".map"))
    .filter((path) => !path.startsWith(PLAIN) && path !== "llms.txt") // for programs, which come by themselves
    .sort();
  const hash = createHash("sha256");
  for (const path of files) hash.update(path).update(readFileSync(join(out, path)));
  const kept = files.filter((path) => !LATER.test(path.split(sep).join("/")));
  const addresses = kept.map((path) => `./${path.split(sep).join("/")}`.replace(/index\.html$/, ""));
  writeFileSync(
    join(out, "sw.js"),
    readFileSync(at("serviceWorker.js"), "utf8")
      .replace("HASH", hash.digest("hex").slice(0, 16))
      .replace('"FILES"', JSON.stringify(addresses)),
  );
}

if (process.argv[1] === at("build.ts")) {
  const out = resolve(process.argv[2] ?? at("dist"));
  await buildSite(out, process.argv[3]);
  console.log(`The site is in ${out}.`);
}
