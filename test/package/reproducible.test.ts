/** The build is a function of the sources: in another folder, at another time, every file has the same bytes. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { software } from "../../src/core/software.js";

const SOURCES = ["assembly", "src", "research", "scripts", "asconfig.json", "package.json"];
const folder = mkdtempSync(join(tmpdir(), "brume-another folder-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** SHA-256 of every file of the library and of research. */
function hashes(root: string): Record<string, string> {
  const files = ["dist", "research/dist"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(
    [...files.sort(), "build/noise.wasm", "build/data.wasm"].map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest("hex"),
    ]),
  );
}

/** The other folder is no checkout, so it is told the commit. */
function build(): void {
  const env = {
    ...process.env,
    BRUME_COMMIT: software.commit ?? "",
    TZ: "Pacific/Chatham",
    LANG: "tr_TR.UTF-8",
  };
  const run = (cwd: string, ...command: string[]) =>
    execFileSync("npm", command, { cwd, env, stdio: "ignore" });
  run(folder, "run", "build:wasm");
  run(folder, "exec", "--", "tsx", "scripts/build.ts", "library");
  run(join(folder, "research"), "run", "build");
}

/** Tools as links; copies of what is bundled, because bundles name their sources by their real paths. */
function linkModules(): void {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
  const copied = Object.keys(dependencies);
  const scopes = copied.map((name) => name.split("/")[0]!);
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync("node_modules").filter((name) => !scopes.includes(name)))
    symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
  for (const name of copied)
    cpSync(join("node_modules", name), join(folder, "node_modules", name), { recursive: true });
}

test("another folder, another time zone, another language: the same bytes", () => {
  for (const path of SOURCES) cpSync(path, join(folder, path), { recursive: true });
  rmSync(join(folder, "research/dist"), { recursive: true });
  for (const name of readdirSync(".").filter((name) => /^tsconfig.*\.json$|^\.npmrc$/.test(name)))
    cpSync(name, join(folder, name));
  linkModules();
  for (const made of ["wasmBytes.ts", "builtFrom.ts"])
    rmSync(join(folder, "src/core", made), { force: true });
  build();
  const [here, there] = [hashes("."), hashes(folder)];
  expect(Object.keys(here).length).toBeGreaterThan(100);
  expect(there).toEqual(here);
  // The comparison would see a byte.
  const changed = join(folder, "dist/lib/index.js");
  writeFileSync(changed, `${readFileSync(changed, "utf8")}\n`);
  expect(hashes(folder)).not.toEqual(here);
});
