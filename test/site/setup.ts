/** Once per run: builds the site as `npm run web:build` does, into a folder of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildSite } from "../../site/build.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The production build of site/. */
    site: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const out = mkdtempSync(join(tmpdir(), "brume-site-"));
  await buildSite(join(out, "site"));
  project.provide("site", join(out, "site"));
  return () => rmSync(out, { recursive: true });
}
