/** A dashboard from a log in one command: the script of examples/tasks as it stands, asked over HTTP, beside the truth. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DAY, MONDAY, requests, writeData } from "../../examples/tasks/data.js";
import { MAIN } from "./brume.js";

const HOUR = DAY / 24;
const folder = mkdtempSync(join(tmpdir(), "brume-log-"));
let running: ChildProcess | undefined;
afterAll(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const words = readFileSync("examples/tasks/log-dashboard.sh", "utf8")
  .replaceAll(/^#.*$/gm, "")
  .replaceAll("\\\n", " ")
  .trim()
  .split(/\s+/)
  .slice(1);
const env = { ...process.env, BRUME_KEY: randomBytes(32).toString("hex") };

/** Starts the command on a free port; resolves to its address. */
async function start(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...args, "--port", "0"], { cwd: folder, env });
  running = child;
  let told = "";
  child.stderr.on("data", (piece: Buffer) => (told += piece.toString()));
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`it ended: ${told}`)));
  ended.catch(() => undefined); // it is stopped on purpose
  for (;;) {
    const [piece] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    told += piece.toString();
    const address = /Server listening at (http:[^"]+)"/.exec(told)?.[1];
    if (address !== undefined) return address;
  }
}

async function stop(): Promise<void> {
  const ended = once(running!, "exit");
  running!.kill("SIGTERM");
  await ended;
}

interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}
interface Answer extends Estimate {
  readonly complete: boolean;
  readonly quantiles: readonly Estimate[];
}
const holds = ({ low, high }: Estimate, truth: number): boolean =>
  (low ?? -Infinity) <= truth && truth <= (high ?? Infinity);

test("a log, one command, and every hour of its day holds the truth; the same log again is refused", async () => {
  writeData(folder);
  copyFileSync("examples/tasks/log-dashboard.json", join(folder, "log-dashboard.json"));
  const address = await start(words);
  const series = async (query: string): Promise<Answer[]> => {
    const response = await fetch(`${address}/v1/query?${query}&from=${MONDAY}&to=${MONDAY + DAY}&every=1h`);
    return ((await response.json()) as { answers: Answer[] }).answers;
  };
  const log = Array.from({ length: 24 }, (_, hour) =>
    requests()
      .filter(({ at }) => Math.floor((at - MONDAY) / HOUR) === hour)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b),
  );
  const counts = await series("metric=requests");
  expect(counts.length).toBe(24);
  expect(counts.every(({ complete, value }) => complete && value !== null)).toBe(true);
  const slow = await series("metric=latency&quantiles=0.95");
  const p95 = log.map((own) => own[Math.ceil(0.95 * own.length) - 1]!);
  // Ten or more of 24 miss with odds of 10⁻⁷ at 95 %.
  expect(counts.filter((answer, hour) => !holds(answer, log[hour]!.length)).length).toBeLessThan(10);
  expect(slow.filter(({ quantiles }, hour) => !holds(quantiles[0]!, p95[hour]!)).length).toBeLessThan(10);
  // And they say something: the hour of trouble stands out.
  expect(counts.every(({ low, high }) => high! - low! < 30)).toBe(true);
  expect(slow[14]!.quantiles[0]!.low!).toBeGreaterThan(2 * slow[12]!.quantiles[0]!.value!);
  expect((await fetch(address)).headers.get("content-type")).toContain("text/html");
  await stop();

  expect(() => execFileSync(process.execPath, [MAIN, ...words], { cwd: folder, env, stdio: "pipe" })).toThrow(
    "this log is in the state already",
  );
  const again = await start(["serve", "--config", "log-dashboard.json"]);
  const day = await fetch(`${again}/v1/query?metric=requests&from=${MONDAY}&to=${MONDAY + DAY}`);
  const { value } = (await day.json()) as Answer;
  const sum = counts.reduce((total, hour) => total + hour.value!, 0);
  expect(value).toBeCloseTo(sum, 6); // what was published stays
  await stop();
});
