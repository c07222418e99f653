/** The command line as built, and input for it. */
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateStream } from "../../src/index.js";

export const MAIN = join(import.meta.dirname, "../../dist/lib/cli/main.js");
export const folder = mkdtempSync(join(tmpdir(), "brume-cli-"));
export const file = (name: string, content: string | Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** Runs `brume …` and gives everything a person would see. */
export function brume(args: string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { maxBuffer: 2 ** 26 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin!.end(input);
  });
}

export const values = Array.from({ length: 600 }, (_, i) => (i * 37) % 90);
export const lines = `${values.join("\n")}\n`;
export const flags = [
  "--epsilon",
  "1",
  "--max",
  "100",
  "--holdout",
  "128",
  "--max-range",
  "256",
  "--unsafe-seed",
  "cli",
];
export const expected = [
  ...privateStream({ epsilon: 1, max: 100, holdout: 128, maxRange: 256, unsafeSeed: "cli" }).pushMany(values),
];
export const numbers = (text: string) => text.trimEnd().split("\n").map(Number);
