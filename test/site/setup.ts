/** Once per run: builds the playground as `npm run web:build` does, into a folder of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The production build of site/. */
    site: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const outDir = mkdtempSync(join(tmpdir(), "brume-web-"));
  await build({ configFile: "site/vite.config.ts", logLevel: "error", build: { outDir, emptyOutDir: true } });
  project.provide("site", outDir);
  return () => rmSync(outDir, { recursive: true });
}
