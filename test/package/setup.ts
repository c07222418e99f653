/**
 * Once per run of the package, browser and site tests: builds Brume if its sources have changed, packs it, installs it as a
 * user would, builds the site and the dashboard, finds a Chromium.
 */
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "vite";
import type { TestProject } from "vitest/node";
import { buildSite } from "../../site/build.js";
import { chromiumPath } from "../support/chromium.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The packed tarball. */
    tarball: string;
    /** The packed tarball of research/. */
    researchTarball: string;
    /** A project with nothing but the tarball installed. */
    app: string;
    /** A project with both tarballs installed. */
    researchApp: string;
    /** The production build of site/, made as `npm run web -- build` makes it. */
    site: string;
    /** The browser's executable. */
    chromium: string;
  }
}

/** The site is built while npm packs and installs. */
export default async function setup(project: TestProject): Promise<() => void> {
  if (isStale()) await npm(".", "run", "build");
  const folder = mkdtempSync(join(tmpdir(), "brume-"));
  const [site, app, researchApp] = ["site", "app", "research-app"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const [[tarball, researchTarball]] = await Promise.all([
    packAndInstall(folder, app, researchApp),
    buildPages(site),
  ]);
  project.provide("tarball", tarball);
  project.provide("researchTarball", researchTarball);
  project.provide("app", app);
  project.provide("researchApp", researchApp);
  project.provide("site", site);
  project.provide("chromium", await chromiumPath());
  return () => rmSync(folder, { recursive: true });
}

/** The site, and the dashboard where the service looks for it when it runs from the sources. */
async function buildPages(site: string): Promise<void> {
  await buildSite(site);
  await build({ configFile: "packages/server/dashboard/vite.config.ts", logLevel: "warn" });
}

async function packAndInstall(folder: string, app: string, researchApp: string): Promise<[string, string]> {
  const [tarball, researchTarball] = [await pack(".", folder), await pack("research", folder)];
  await install(app, tarball);
  await install(researchApp, tarball, researchTarball);
  return [tarball, researchTarball];
}

/** Whether the build, whose last files are those of research, is older than anything it is made from. */
function isStale(): boolean {
  const last = "research/dist/index.js";
  if (!existsSync(last)) return true;
  const sources = ["src", "assembly", "research"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.startsWith("dist"))
      .map((path) => join(folder, path)),
  );
  return sources.some((path) => statSync(path).mtimeMs > statSync(last).mtimeMs);
}

async function pack(place: string, folder: string): Promise<string> {
  const [packed] = JSON.parse(
    await npm(place, "pack", "--ignore-scripts", "--json", "--pack-destination", folder),
  ) as [{ filename: string }];
  return join(folder, packed.filename);
}

/** Dependencies come from node_modules, so that no network is needed; npm checks that they fit. */
async function install(app: string, ...tarballs: string[]): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  const folders = Object.keys(dependencies).map((name) => resolve("node_modules", name));
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const options = ["--offline", "--install-links", "--ignore-scripts", "--no-audit"];
  await npm(app, "install", ...options, ...tarballs, ...folders);
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)("npm", args, { cwd, maxBuffer: 2 ** 26 })).stdout;
}
