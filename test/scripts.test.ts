/** Scripts of package.json, their subjects and what documents, comments and workflows say to run are the same commands. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROGRAMS } from "../scripts/programs.js";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const contributing = readFileSync("CONTRIBUTING.md", "utf8");

/** Commands in a text whose script or subject does not exist. */
function unknownCommands(text: string): string[] {
  const commands = text.matchAll(/npm run (?:--silent )?([a-z][\w-]*(?::[a-z]+)?)(?: -- ([a-z][\w-]*))?/g);
  return [...commands]
    .filter(([, script, subject]) => {
      if (!Object.hasOwn(scripts, script!)) return true;
      if (subject === undefined) return false;
      return !Object.hasOwn(PROGRAMS[script!] ?? {}, subject);
    })
    .map(([command]) => command);
}

test("CONTRIBUTING.md lists every script of package.json, and no other", () => {
  const [table] = /^\| command[\s\S]*?\n\n/m.exec(contributing)!;
  const listed = [...table.matchAll(/^\| `npm (?:run )?([\w:]+)`/gm)].map(([, name]) => name!);
  expect([...listed, "prepack"].sort()).toEqual(Object.keys(scripts).sort());
  expect(table).toContain("`prepack`");
});

test("CONTRIBUTING.md lists every subject of a script, and no other", () => {
  const [table] = /^\| script[\s\S]*?\n\n/m.exec(contributing)!;
  const rows = [...table.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)];
  const listed = rows.map(([, script, cell]) => [
    script,
    [...cell!.matchAll(/`([a-z-]+)`/g)].map(([, subject]) => subject!).sort(),
  ]);
  const named = Object.entries(PROGRAMS).map(
    ([script, programs]) =>
      [
        script,
        Object.keys(programs)
          .filter((subject) => subject !== "")
          .sort(),
      ] as const,
  );
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(named.filter(([, subjects]) => subjects.length > 0)),
  );
});

test("every program is there, and a script runs it", () => {
  for (const [script, programs] of Object.entries(PROGRAMS)) {
    expect(scripts[script]).toBe(`tsx scripts/run.ts ${script}`);
    for (const { file } of Object.values(programs)) expect([file, existsSync(file)]).toEqual([file, true]);
  }
});

test("every command that a tracked file names exists", () => {
  const files = execFileSync("git", ["grep", "-lI", "npm run "], { encoding: "utf8" }).trim().split("\n");
  // A working copy may have deleted a file that git still lists; build:dashboard is a script of packages/server.
  const unknown = files
    .filter((file) => existsSync(file) && file !== "test/scripts.test.ts")
    .flatMap((file) => unknownCommands(readFileSync(file, "utf8")).map((command) => `${file}: ${command}`))
    .filter((line) => line !== "packages/server/package.json: npm run --silent build:dashboard");
  expect(files.length).toBeGreaterThan(50);
  expect(unknown).toEqual([]);
});

test("a script and a subject that do not exist are noticed", () => {
  expect(unknownCommands("`npm run timing`, npm run bench -- --only push, npm run bench -- kafka")).toEqual([
    "npm run timing",
  ]);
  expect(unknownCommands("npm run measure -- speed, npm run fuzz -- service, npm run lint -- fast")).toEqual([
    "npm run measure -- speed",
    "npm run lint -- fast",
  ]);
});

test("every program says with --help how it is used", () => {
  const help = (...args: string[]) =>
    execFileSync("npx", ["tsx", "scripts/run.ts", ...args, "--help"], { encoding: "utf8" });
  expect(help("fuzz")).toMatch(/^Drives both cores[\s\S]*--operations 1e7/);
  expect(help("measure")).toContain("expected one of local, timing");
  for (const programs of Object.values(PROGRAMS))
    for (const { file, by, help: own } of Object.values(programs))
      if (own === undefined && by !== "vite") expect(readFileSync(file, "utf8")).toMatch(/^\/\*\*\n \* /m);
});
