/** A real server, killed under load: nothing acknowledged is lost or counted twice, nothing is published twice differently. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LATE, type Mistake } from "./killed.js";
import { atEnd, temporaryFolder } from "./support.js";

const KILLS = 20;
/** Acknowledged in a life, at least. */
const BATCHES = 5;
/** In the project, so that the program finds its packages. */
const root = resolve("packages/server/build", `kill-${process.pid}`);
const program = join(root, "program.mjs");

/** Names of CommonJS that bundled packages refer to. A bundle starts quickly, and 20 starts follow each other. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; import { dirname as dirnameOf } from "node:path";
import { fileURLToPath as pathOf } from "node:url"; const require = requireFrom(import.meta.url);
const __filename = pathOf(import.meta.url); const __dirname = dirnameOf(__filename);`;

beforeAll(async () => {
  mkdirSync(root, { recursive: true });
  await build({
    ...{ entryPoints: ["packages/server/test/killed.ts"], outfile: program },
    ...{ bundle: true, platform: "node", format: "esm", logLevel: "error" },
    alias: { brume: resolve("src/index.ts"), "brume/node": resolve("src/node.ts") },
    external: ["libsql", "jiti", "pg"],
    banner: { js: REQUIRE },
  });
});
afterAll(() => rmSync(root, { recursive: true }));

interface Life {
  readonly url: string;
  readonly kill: () => Promise<void>;
  /** Lets an hour pass. */
  readonly passHour: () => void;
}

async function start(folder: string, offset: number, mistake?: Mistake): Promise<Life> {
  const args = [program, folder, String(offset), ...(mistake === undefined ? [] : [mistake])];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  atEnd(kill);
  const died = once(child, "exit").then(() => Promise.reject(new Error("the service did not start")));
  const [line] = (await Promise.race([once(child.stdout!, "data"), died])) as [Buffer];
  died.catch(() => undefined); // from here on it is killed on purpose
  return {
    url: `http://127.0.0.1:${/listening (\d+)/.exec(line.toString())![1]!}`,
    kill,
    passHour: () => child.kill("SIGUSR2"),
  };
}

const PEOPLE = 10;
/** Events of a batch that count: two of each person who sends three, and one of each who sends one. */
const COUNTED = 3 * PEOPLE;

/** Ten people have two events here and a third, which does not count, in the next batch; ten others have one event. */
function batchOf(number: number): string {
  const group = (name: string) => Array.from({ length: PEOPLE }, (_, p) => `${name}-${p}`);
  const often = group(`often-${number}`);
  const people = [...often, ...often, ...group(`often-${number - 1}`).slice(0, number === 0 ? 0 : PEOPLE)];
  return JSON.stringify({
    events: [...people, ...group(`once-${number}`)].flatMap((person, i) => [
      { metric: "exact", key: i % 2 === 0 ? "a" : "b", person },
      { metric: "noisy", value: 1 + ((7 * number) % 99), person },
    ]),
  });
}

/** Sends batches until it is stopped. One whose answer did not come is sent again in the next life. */
class Client {
  #sent = 0;
  #waiting: number[] = [];
  readonly acknowledged = new Set<number>();

  async #send(url: string, number: number): Promise<boolean> {
    const headers = { "content-type": "application/json", "idempotency-key": `batch-${number}` };
    try {
      const response = await fetch(`${url}/v1/events`, { method: "POST", headers, body: batchOf(number) });
      await response.text();
      if (response.status !== 202) throw new Error(String(response.status));
    } catch {
      return false; // killed
    }
    return this.acknowledged.add(number) !== undefined;
  }

  async #lane(url: string): Promise<void> {
    for (;;) {
      const number = this.#waiting.shift() ?? this.#sent++;
      if (!(await this.#send(url, number))) return void this.#waiting.push(number);
    }
  }

  /** Sends what waits, and one batch whose answer the sender pretends to have lost; then new ones, over four connections. */
  run(url: string): Promise<unknown> {
    const [lost] = this.acknowledged;
    if (lost !== undefined) this.#waiting.push(lost);
    return Promise.all([1, 2, 3, 4].map(() => this.#lane(url)));
  }

  /** No new batches; what waits is sent. */
  async finish(url: string): Promise<number> {
    for (const number of this.#waiting.splice(0)) expect(await this.#send(url, number)).toBe(true);
    return this.#sent;
  }

  /** Resolves when so many more batches are acknowledged. */
  async more(batches: number): Promise<void> {
    for (const enough = this.acknowledged.size + batches; this.acknowledged.size < enough;) await sleep(1);
  }
}

interface Answer {
  readonly from: number;
  readonly to: number;
  readonly complete: boolean;
  readonly value?: unknown;
  readonly total?: unknown;
  readonly quantiles?: unknown;
}

const QUERY = "metric=noisy&quantiles=0.5";

/** Reads what is published, over and over, and compares it with what was read before. */
class Reader {
  readonly #seen = new Map<string, string>();
  readonly differing = new Set<string>();
  running = true;

  get size(): number {
    return this.#seen.size;
  }

  /** Resolves when there is something that was not there before. */
  async more(): Promise<void> {
    for (const before = this.size; this.size === before;) await sleep(10);
  }

  async read(url: string, query: string, from = "-10s"): Promise<void> {
    const response = await fetch(`${url}/v1/query?${query}&from=${from}&every=200ms`);
    const { answers } = (await response.json()) as { answers: Answer[] };
    for (const answer of answers.slice(1, -1)) {
      const { from, to, complete, value, total, quantiles } = answer;
      const [name, text] = [`${query} ${from}`, JSON.stringify({ from, to, value, total, quantiles })];
      // A number that was there, and is another one or is there no more.
      if (this.#seen.has(name) && this.#seen.get(name) !== text) this.differing.add(name);
      if (complete) this.#seen.set(name, text);
    }
  }

  async run(url: string): Promise<void> {
    try {
      for (; this.running; await sleep(50)) await this.read(url, QUERY);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // TypeError: the connection broke
    }
  }
}

async function totals(url: string): Promise<number> {
  const count = async (key: string): Promise<number> => {
    for (;;) {
      const response = await fetch(`${url}/v1/query?metric=exact&key=${key}&last=1h`);
      const { value } = (await response.json()) as { value: number | null };
      if (value !== null) return value;
      await sleep(100); // the hour is being closed
    }
  };
  return (await count("a")) + (await count("b"));
}

/** Lives and kills; then one more life that tells what became of it all. A mistake that was seen needs no further kill. */
async function killed(times: number, mistake?: Mistake) {
  const folder = temporaryFolder();
  const offset = 3_600_000 - (Date.now() % 3_600_000) - 20_000; // the hour that counts begins soon
  const [client, reader] = [new Client(), new Reader()];
  for (let life = 0; life < times && reader.differing.size === 0; life++) {
    const { url, kill } = await start(folder, offset, mistake);
    while (life === 0 && (Date.now() + offset) % 3_600_000 > 1_800_000) await sleep(100); // the first hour has no number
    const working = Promise.all([client.run(url), reader.run(url)]);
    const [some, moment] = crypto.getRandomValues(new Uint8Array(2));
    await Promise.all([client.more(BATCHES + (some! % 16)), reader.more()]);
    await sleep(moment! / 8); // up to 32 ms: a moment that no rule decides
    if (mistake === "unsynced") await sleep(2 * LATE); // the first rows are stored, and the last ones were only read
    await kill();
    await working;
  }
  const { url, kill, passHour } = await start(folder, offset, mistake);
  const batches = await client.finish(url);
  reader.running = false;
  await reader.read(url, QUERY, "-5m");
  passHour();
  const found = await totals(url);
  await kill();
  return { expected: COUNTED * batches, found, batches, seen: reader.size, differing: reader.differing.size };
}

test(`killed ${KILLS} times under load: each event counts once, each number stays what it was`, async () => {
  const { expected, found, batches, seen, differing } = await killed(KILLS);
  expect(batches).toBeGreaterThan(KILLS * BATCHES);
  expect(seen).toBeGreaterThan(KILLS);
  // ε = 290 an event: noise of ½ or more has odds below 10⁻¹².
  expect(Math.abs(found - expected)).toBeLessThan(0.5);
  expect(differing).toBe(0);
});

test("a store that says it has what it does not have is seen: events are lost, numbers change", async () => {
  const { expected, found, differing } = await killed(KILLS, "unsynced");
  expect(found).toBeLessThan(expected - 0.5);
  expect(differing).toBeGreaterThan(0);
});

test("a service that takes no notice of idempotency keys is seen: it stores a batch twice", async () => {
  const { expected, found } = await killed(2, "forgetful");
  expect(found).toBeGreaterThan(expected + 0.5);
});
