/** The whole site into one folder: `npm run web:build`. Pages, documentation, and the list that makes it work offline. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { buildDocs } from "./docs/build.js";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** @param folder emptied first */
export async function buildSite(folder: string): Promise<void> {
  const out = resolve(folder); // Vite would take it as a folder of site/
  rmSync(out, { recursive: true, force: true });
  process.env["NODE_ENV"] = "production"; // a test runner has set another one, and Vite would build for it
  await build({
    configFile: at("vite.config.ts"),
    logLevel: "warn",
    build: { outDir: out, emptyOutDir: true },
  });
  await buildDocs(join(out, "docs"));
  writeServiceWorker(out);
}

/** Its bytes change with any file of the site, so that browsers notice. */
function writeServiceWorker(out: string): void {
  const files = readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(out, path)).isFile() && !path.endsWith(".map"))
    .sort();
  const hash = createHash("sha256");
  for (const path of files) hash.update(path).update(readFileSync(join(out, path)));
  const addresses = files.map((path) => `./${path.split(sep).join("/")}`.replace(/index\.html$/, ""));
  writeFileSync(
    join(out, "sw.js"),
    readFileSync(at("serviceWorker.js"), "utf8")
      .replace("HASH", hash.digest("hex").slice(0, 16))
      .replace('"FILES"', JSON.stringify(addresses)),
  );
}

if (process.argv[1] === at("build.ts")) {
  const out = resolve(process.argv[2] ?? at("dist"));
  await buildSite(out);
  console.log(`The site is in ${out}.`);
}
