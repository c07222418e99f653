/** The example service: started, loaded, killed with SIGKILL, started again and asked. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "brume-latency-"));
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Starts the service; gives its address and a way to end it. */
async function start() {
  const env = {
    ...process.env,
    PORT: "0",
    STATE: join(folder, "state"),
    KEY: join(folder, "key"),
    EPSILON: "20",
    EVERY: "1s",
  };
  const child = spawn(process.execPath, ["--import", "tsx", "examples/latency-service/server.ts"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  let text = "";
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (piece: Buffer) => {
      text += piece.toString();
      const found = /listening on (http:\S+)/.exec(text);
      if (found !== null) resolve(found[1]!);
    });
    child.once("exit", () => reject(new Error("the service ended before it listened")));
  });
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    running.delete(child);
  };
  return { address, end };
}

interface Answer {
  readonly complete: boolean;
  readonly total: { readonly value: number; readonly low: number; readonly high: number };
  readonly quantiles: readonly { readonly p: number; readonly value: number | null }[];
}

/** Intervals of this confidence miss the truth once in a million runs. */
const CONFIDENCE = "0.999999";

async function ask(address: string, route: string, from: number, to: number): Promise<Answer> {
  const query = new URLSearchParams({
    ...{ route, from: new Date(from).toISOString(), to: new Date(to).toISOString(), confidence: CONFIDENCE },
  });
  return (await (await fetch(`${address}/latency?${query}`)).json()) as Answer;
}

/** Sends `count` requests, each by a user of its own. */
async function load(address: string, route: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        await (await fetch(address + route, { headers: { "x-user": `user ${route} ${sent + i}` } })).text();
      }),
    );
}

/** Asks until all ticks of the range are published. */
async function published(address: string, route: string, from: number, to: number): Promise<Answer> {
  for (;;) {
    const answer = await ask(address, route, from, to);
    if (answer.complete) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("per-route percentiles survive SIGKILL, bit for bit", { timeout: 60_000 }, async () => {
  const first = await start();
  await (await fetch(`${first.address}/metrics`)).text(); // answers when the hub is open and listens
  const from = 1000 * Math.ceil(Date.now() / 1000); // ranges are published from a full second on
  while (Date.now() < from) await new Promise((resolve) => setTimeout(resolve, from - Date.now()));
  await load(first.address, "/search", 400);
  await load(first.address, "/checkout", 100);
  const to = 1000 * Math.ceil((Date.now() + 1) / 1000);
  const search = await published(first.address, "/search", from, to);
  const checkout = await published(first.address, "/checkout", from, to);
  expect([search.total.low < 400, search.total.high > 400]).toEqual([true, true]);
  expect([checkout.total.low < 100, checkout.total.high > 100]).toEqual([true, true]);
  expect(search.quantiles.map(({ p }) => p)).toEqual([0.5, 0.95]);
  const metrics = await (await fetch(`${first.address}/metrics`)).text();
  expect(metrics).toMatch(/requests_private\{route="\/search"\} -?[\d.]+/);
  expect(metrics).not.toContain("user /search");
  await first.end("SIGKILL");

  const second = await start();
  expect(await ask(second.address, "/search", from, to)).toEqual(search);
  expect(await ask(second.address, "/checkout", from, to)).toEqual(checkout);
  const statement = (await (await fetch(`${second.address}/statement`)).json()) as { unit: string };
  expect(statement.unit).toBe("one person, per day (UTC)");
  expect((await fetch(`${second.address}/latency?route=/nowhere&from=2026-01-01&to=2026-01-02`)).status).toBe(
    400,
  );
  await second.end("SIGTERM");
});
