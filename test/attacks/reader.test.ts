/**
 * The attacker reads what `brume release` prints: its output, its errors, a log of both. A file that cannot be read
 * must not come out there. The attacker may know the place of the fault (line and column), and nothing that stood there.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import seedrandom from "seedrandom";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TextError } from "../../src/adapters/textError.js";
import { DataError } from "../../src/cli/command.js";
import { type Format, readNumbers } from "../../src/cli/input.js";

const folder = mkdtempSync(join(tmpdir(), "brume-reader-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() =>
  build({
    entryPoints: ["src/cli/main.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    splitting: true,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  }),
);
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** Everything a person would see of a release from the sources. */
function release(path: string, ...args: string[]): Promise<{ code: number; seen: string }> {
  const argv = [join(folder, "main.mjs"), "release", path, ...args];
  const settings = ["--epsilon", "1", "--max", "100", "--threshold", "50"];
  return new Promise((resolve) =>
    execFile(process.execPath, [...argv, ...settings], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), seen: out + err }),
    ),
  );
}

const SECRET = "alice@x paid 4711";

test.each([
  ["stray.csv", `a,b\n1,2\n${SECRET}",3\n`, "line 3, column 1"],
  ["after.csv", `a,b\n1,2\n3,"4"${SECRET}\n`, "line 3, column 2"],
  ["open.csv", `a,b\n1,2\n3,"${SECRET}\n`, "line 3, column 2"],
  ["long.csv", `a,b\n1,2\n3,4,${SECRET}\n`, "line 3"],
  ["cell.csv", `a,b\n1,2\n3,${SECRET}\n`, "line 3"],
  ["line.txt", `1\n2\n${SECRET}\n`, "line 3"],
  ["field.ndjson", `{"b":1}\n{"b":2}\n{"b":"${SECRET}"}\n`, "line 3"],
  ["cut.ndjson", `{"b":1}\n{"b":2}\n{"b":3, "name": "${SECRET}\n`, "line 3"],
  ["null.ndjson", `{"b":1}\n{"b":2}\n"${SECRET}"\n`, "line 3"],
  ["cut.csv.gz", gzipSync(`a,b\n1,2\n3,${SECRET}\n`).subarray(0, 30), "damaged gzip"],
  ["tail.txt.gz", Buffer.concat([gzipSync("1\n2\n"), Buffer.from(SECRET)]), "damaged gzip"],
] as const)(
  "the fault in %s is named by its place, and nothing of the file is printed",
  async (name, content, place) => {
    const args = name.endsWith(".txt") || name.endsWith(".txt.gz") ? [] : ["--column", "b"];
    const { code, seen } = await release(file(name, content), ...args);
    expect(code).toBe(1);
    expect(seen).toContain(place);
    for (const word of SECRET.split(" ")) expect(seen).not.toContain(word);
    expect(seen).not.toMatch(/^ +at /m); // no stack trace
    expect(seen.trimEnd().split("\n").at(-1)).toMatch(/^brume release: /);
  },
);

/** Every message a reader may give, with nothing in it that comes from the file but places. */
const ALLOWED = [
  /^line \d+: expected a finite number(, got nothing)?( in column \d+)?$/,
  /^line \d+: expected a JSON object$/,
  /^line \d+: there is no field "b"$/,
  /^line \d+: field "b" is not a number$/,
  /^line \d+, column \d+: expected valid CSV, got (a quote inside a field that does not begin with one|text after the closing quote of a field|a quote that is never closed|a row with more or fewer fields than the first row)$/,
  /^column: expected a name in the header or a number from 1 to \d+, got "b"$/,
  /: damaged gzip \(Z_[A-Z]+_ERROR\)$/,
];

/** A file with marks all over it: words that can be found again, and what breaks a parser between them. */
function hostile(random: seedrandom.PRNG, format: Format): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const rows = 1 + Math.floor(random() * 8);
  const text = Array.from({ length: rows }, (_, i) => {
    const value = random() < 0.7 ? String(Math.floor(random() * 90)) : "Mark";
    if (format === "csv") return i === 0 ? "a,b" : `${pick(["Mark", '"Mark, ""Mark"""', "3"])},${value}`;
    if (format === "ndjson") return `{"a":"Mark","b":${value === "Mark" ? '"Mark"' : value}}`;
    return value;
  }).join(pick(["\n", "\r\n"]));
  let damaged = text;
  for (let faults = Math.floor(random() * 4); faults > 0; faults--) {
    const at = Math.floor(random() * damaged.length);
    const part = pick(['"', ",", "\n", "\r", "\0", "{", "}", "\\", "Mark", "é", "\uFEFF", "1e999", '"Mark']);
    damaged = damaged.slice(0, at) + part + damaged.slice(at + Math.floor(random() * 3));
  }
  return damaged;
}

test.each(["csv", "ndjson", "plain"] as const)(
  "no damaged %s file, gzip or not, makes a reader say anything else",
  async (format) => {
    const random = seedrandom(`hostile ${format}`);
    let refused = 0;
    for (let i = 0; i < 400; i++) {
      const text = hostile(random, format);
      const zipped = gzipSync(text);
      const cut = zipped.subarray(0, Math.floor(random() * zipped.length));
      const path = file("hostile", random() < 0.3 ? cut : text);
      const reason = await readNumbers(path, format, format === "plain" ? undefined : "b").then(
        () => undefined,
        (error: unknown) => error,
      );
      if (reason === undefined) continue;
      refused++;
      expect([DataError, TextError, RangeError]).toContain((reason as Error).constructor);
      const { message, cause } = reason as Error;
      expect(message).toSatisfy((text: string) => ALLOWED.some((form) => form.test(text)));
      expect(JSON.stringify(cause ?? "")).not.toContain("Mark");
    }
    expect(refused).toBeGreaterThan(100);
  },
);
