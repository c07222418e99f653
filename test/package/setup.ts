/** Once per run of the package and browser tests: builds Brume if its sources have changed, packs it, installs it as a user would, finds a Chromium. */
import { execFileSync } from "node:child_process";
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
import type { TestProject } from "vitest/node";
import { chromiumPath } from "../support/chromium.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The packed tarball. */
    tarball: string;
    /** A project with nothing but the tarball installed. */
    app: string;
    /** The browser's executable. */
    chromium: string;
  }
}

export default function setup(project: TestProject): () => void {
  if (isStale()) npm(".", "run", "build");
  const folder = mkdtempSync(join(tmpdir(), "brume-"));
  const tarball = pack(folder);
  project.provide("tarball", tarball);
  project.provide("app", install(tarball, join(folder, "app")));
  project.provide("chromium", chromiumPath());
  return () => rmSync(folder, { recursive: true });
}

/** Whether the build, whose last file is the browser's, is older than anything it is made from. */
function isStale(): boolean {
  const last = "dist/browser/brume.js";
  if (!existsSync(last)) return true;
  const sources = ["src", "assembly"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  return sources.some((path) => statSync(path).mtimeMs > statSync(last).mtimeMs);
}

function pack(folder: string): string {
  const [packed] = JSON.parse(
    npm(".", "pack", "--ignore-scripts", "--json", "--pack-destination", folder),
  ) as [{ filename: string }];
  return join(folder, packed.filename);
}

/** Dependencies come from node_modules, so that no network is needed; npm checks that they fit. */
function install(tarball: string, app: string): string {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  const folders = Object.keys(dependencies).map((name) => resolve("node_modules", name));
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  npm(app, "install", "--offline", "--install-links", "--ignore-scripts", "--no-audit", tarball, ...folders);
  return app;
}

function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
