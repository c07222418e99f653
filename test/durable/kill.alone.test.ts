/** Real processes, really killed. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { privateStream } from "../../src/index.js";
import { options, readLog, valueAt, type Log } from "./killed.js";

const KILLS = 60;
const root = mkdtempSync(join(tmpdir(), "brume-kill-"));
const program = join(root, "program.mjs");
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(async () => {
  await build({
    ...{
      entryPoints: ["test/durable/killed.ts"],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
    },
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
});

/** Runs one life; `stop` gets a function that kills it. Resolves with the signal that ended it. */
function live(
  args: string[],
  stop: (kill: () => void) => void,
): Promise<{ signal: string | null; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (text: Buffer) => (errors += text.toString()));
    child.on("close", (_, signal) => resolve({ signal, errors }));
    stop(() => child.kill("SIGKILL"));
  });
}

/** Faults in a log: a position published twice with different values, a missing one, or noise from elsewhere. */
function faults({ lives, published }: Log): string[] {
  const found: string[] = [];
  const said = new Map<number, number>();
  for (const { position, value } of published) {
    if (said.has(position) && said.get(position) !== value) found.push(`position ${position} said twice`);
    said.set(position, value);
  }
  for (let i = 0; i < said.size; i++) if (!said.has(i)) found.push(`position ${i} missing`);
  // The values that were really received, life by life, pushed without any interruption.
  const end = Number(options.holdout) + said.size;
  const values = lives.flatMap(({ life, received }, k) => {
    const until = Math.max(received, lives[k + 1]?.received ?? end);
    return Array.from({ length: until - received }, (_, i) => valueAt(life, received + i));
  });
  const uninterrupted = privateStream(options).pushMany(values.slice(0, end));
  const wrong = [...uninterrupted].findIndex((value, i) => said.get(i) !== value);
  if (wrong >= 0) found.push(`position ${wrong} is not what an uninterrupted stream says`);
  return found;
}

test(`killed ${KILLS} times or more at random moments, it says what an uninterrupted stream says, each position once`, async () => {
  const [folder, log] = [join(root, "store"), join(root, "log")];
  const size = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  // On a busy machine a life publishes less, and more of them are needed.
  for (let life = 1; life <= KILLS || readLog(log).published.length <= 5000; life++) {
    const start = size();
    const { signal, errors } = await live([folder, log, String(life)], (kill) => {
      // From the first sign of life on, up to 60 ms: a moment that no rule decides.
      const delay = crypto.getRandomValues(new Uint8Array(1))[0]! * (60 / 256);
      const wait = setInterval(() => {
        if (size() === start) return;
        clearInterval(wait);
        setTimeout(kill, delay);
      }, 1);
    });
    expect([signal, errors]).toEqual(["SIGKILL", ""]);
  }
  const result = readLog(log);
  expect(result.lives.length).toBeGreaterThan(50); // a life may end before it begins to read
  expect(result.published.length).toBeGreaterThan(5000);
  expect(faults(result)).toEqual([]);
});

test("a program that publishes before it stores is seen", async () => {
  const [folder, log] = [join(root, "early-store"), join(root, "early-log")];
  for (const life of ["1", "2"]) {
    const { signal, errors } = await live([folder, log, life, "early"], () => undefined);
    expect([signal, errors]).toEqual(["SIGKILL", ""]);
  }
  expect(faults(readLog(log)).filter((fault) => fault.endsWith("said twice")).length).toBeGreaterThan(0);
});

test("a log with one number changed, one missing, or one repeated with another value is seen", () => {
  const numbers = privateStream(options).pushMany(Array.from({ length: 700 }, (_, i) => valueAt(1, i)));
  const published = [...numbers].map((value, position) => ({ position, value }));
  const lives = [{ life: 1, received: 0 }];
  expect(faults({ lives, published })).toEqual([]);
  expect(faults({ lives, published: published.with(100, { position: 100, value: 1 }) })).toHaveLength(1);
  expect(faults({ lives, published: published.toSpliced(100, 1) }).length).toBeGreaterThan(0);
  expect(faults({ lives, published: [...published, { position: 3, value: 1 }] }).length).toBeGreaterThan(0);
});
