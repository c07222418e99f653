/**
 * How long a newcomer waits for a first right number, from an empty folder: `npm run measure -- first-number`. Installs the packed
 * packages as npm would, then does what docs/start.md says: the program, the command, the service with a log. Each must
 * give a right number within a minute.
 */
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DAY, MONDAY, requests, writeData } from "../examples/tasks/data.js";

const MOST = 60;
/** Noise has a scale of 2 at most: it is further away with odds below 10⁻¹². */
const FAR = 60;
const HOUR = DAY / 24;

const root = mkdtempSync(join(tmpdir(), "brume-first-"));
/** Settings of this project's npm are not those of a newcomer. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 2 ** 26,
  });
const pack = (folder: string): string => {
  const [packed] = JSON.parse(
    run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", root], folder),
  ) as [{ filename: string }];
  return join(root, packed.filename);
};
const install = (folder: string, ...packages: readonly string[]): void => {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  run("npm", ["install", "--no-audit", "--no-fund", ...packages], folder);
};

const start = readFileSync("docs/start.md", "utf8");
const [, program] = /^```js\n(.*?)^```/ms.exec(start)!;
const truth = (hour: number): number =>
  requests().filter(({ at }) => Math.floor((at - MONDAY) / HOUR) === hour).length;

/** The first program of docs/start.md. */
function library(folder: string, brume: string): boolean {
  install(folder, brume);
  writeFileSync(join(folder, "first.js"), program!);
  const [, orders] = /^([\d.-]+) orders/.exec(run(process.execPath, ["first.js"], folder))!;
  return Math.abs(Number(orders) - 300) < FAR;
}

/** A log, and the command of examples/tasks that draws it. */
function commandLine(folder: string, brume: string): boolean {
  install(folder, brume);
  writeData(folder);
  const [, words] = /^brume (.*)$/ms.exec(readFileSync("examples/tasks/dashboard.sh", "utf8"))!;
  const printed = run("npx", ["brume", ...words!.replaceAll("\\\n", " ").trim().split(/\s+/)], folder);
  const rows = printed.trimEnd().split("\n").slice(2);
  return rows.every((row, hour) => {
    const [, low, high] = /([\d.-]+) … ([\d.-]+)/.exec(row)!;
    return Math.abs((Number(low) + Number(high)) / 2 - truth(hour)) < FAR;
  });
}

/** A log in a service with its dashboard, as examples/tasks starts it. */
async function service(folder: string, brume: string, server: string): Promise<boolean> {
  install(folder, brume, server);
  writeData(folder);
  copyFileSync("examples/tasks/log-dashboard.json", join(folder, "log-dashboard.json"));
  const [, words] = /^brume (.*)$/ms.exec(readFileSync("examples/tasks/log-dashboard.sh", "utf8"))!;
  const running = spawn(
    process.execPath,
    [
      "node_modules/brume/dist/lib/cli/main.js",
      ...words!.replaceAll("\\\n", " ").trim().split(/\s+/),
      "--port",
      "0",
    ],
    {
      cwd: folder,
      env: { ...env, BRUME_KEY: randomBytes(32).toString("base64") },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const address = await new Promise<string>((found, failed) => {
      let text = "";
      running.stdout.on("data", (part: Buffer) => {
        text += part.toString();
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
        if (url !== undefined) found(url);
      });
      running.once("exit", () => failed(new Error(`the service ended:\n${text}`)));
    });
    const hour = MONDAY + 14 * HOUR;
    const answer = await fetch(`${address}/v1/query?metric=requests&from=${hour}&to=${hour + HOUR}`);
    const { value } = (await answer.json()) as { value: number };
    return Math.abs(value - truth(14)) < FAR;
  } finally {
    running.kill("SIGTERM");
    await new Promise((ended) => running.once("exit", ended));
  }
}

const packed = [pack("."), pack("packages/server")] as const;
const ways: Readonly<Record<string, (folder: string) => boolean | Promise<boolean>>> = {
  library: (folder) => library(folder, packed[0]),
  "command line": (folder) => commandLine(folder, packed[0]),
  service: (folder) => service(folder, ...packed),
};
try {
  for (const [name, way] of Object.entries(ways)) {
    const folder = resolve(root, name.replace(" ", "-"));
    mkdirSync(folder);
    const from = performance.now();
    const isRight = await way(folder);
    const seconds = (performance.now() - from) / 1000;
    console.log(
      `${name}: a ${isRight ? "right" : "wrong"} number after ${seconds.toFixed(1)} s, npm install included`,
    );
    if (!isRight || seconds > MOST) process.exitCode = 1;
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
