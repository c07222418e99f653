/**
 * Does a service tell whether a key is public, a candidate or new, to those who send and ask over HTTP? It runs in a process
 * of its own; statuses and sizes of answers are compared, and times by Welch's t, kinds in random order, after the slowest
 * percent is left out. |t| > 4.5 is what dudect calls a leak. `npm run measure -- service-keys [--requests 6000]`
 *
 * A key that is asked about is public or not, and the answer says so: candidates and new keys are compared there.
 */
import { randomBytes, randomInt } from "node:crypto";
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Config, makeLogger, makeServer, Service } from "../src/index.js";

const { values: given } = parseArgs({
  options: { requests: { type: "string", default: "6000" }, state: { type: "string" } },
});

const PUBLIC = "/page/public";
const KINDS = ["public", "candidate", "new"] as const;
type Kind = (typeof KINDS)[number];

const config = (folder: string): Config => ({
  ...{ epsilon: 1, delta: 1e-9, key: { env: "NOT_USED" }, store: { sqlite: folder }, log: "error" },
  limits: { perMinute: 0, commitEvery: 2 },
  metrics: {
    views: {
      ...{ type: "count", epsilon: 1, every: "1h", perPerson: 5 },
      keys: { listed: [PUBLIC], discover: { delta: 1e-9 } },
    },
  },
});

async function serve(folder: string): Promise<void> {
  const service = await Service.open(config(folder), { key: new Uint8Array(randomBytes(32)) });
  const app = await makeServer(service, makeLogger("error"));
  process.send!(await app.listen({ host: "127.0.0.1", port: 0 }));
}

/** Names of one length. @param number of the request */
const nameOf = (kind: Kind, number: number): string =>
  kind === "public"
    ? PUBLIC
    : kind === "candidate"
      ? `/page/c${String(randomInt(20)).padStart(5, "0")}`
      : `/page/${String(number).padStart(6, "0")}`;

interface Answer {
  readonly kind: Kind;
  /** Status and length of all that came back. */
  readonly seen: string;
  readonly microseconds: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function answered(url: URL, kind: Kind, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const sent = request(
      url,
      { agent, method: body === undefined ? "GET" : "POST", headers: { "content-type": "application/json" } },
      (answer) => {
        let length = 0;
        answer.on("data", (part: Buffer) => (length += part.length));
        answer.on("end", () => {
          const microseconds = Number(process.hrtime.bigint() - start) / 1000;
          resolve({ kind, seen: `${answer.statusCode}, ${length} bytes`, microseconds });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Welch's t of the times of two kinds, and their means. */
function welch(answers: readonly Answer[], kinds: readonly [Kind, Kind]) {
  const sorted = answers.map(({ microseconds }) => microseconds).sort((a, b) => a - b);
  const most = sorted[Math.floor(0.99 * (sorted.length - 1))]!;
  const [a, b] = kinds.map((kind) => {
    const times = answers.filter((one) => one.kind === kind && one.microseconds <= most);
    const mean = times.reduce((sum, { microseconds }) => sum + microseconds, 0) / times.length;
    const squares = times.reduce((sum, { microseconds }) => sum + (microseconds - mean) ** 2, 0);
    return { mean, error: squares / (times.length - 1) / times.length };
  }) as [{ mean: number; error: number }, { mean: number; error: number }];
  return { t: (b.mean - a.mean) / Math.sqrt(a.error + b.error), means: [a.mean, b.mean] };
}

const all: readonly (readonly [Kind, Kind])[] = [
  ["public", "candidate"],
  ["public", "new"],
  ["candidate", "new"],
];

function report(what: string, answers: readonly Answer[], pairs: typeof all): void {
  for (const kind of new Set(answers.map((one) => one.kind))) {
    const seen = new Set(answers.filter((one) => one.kind === kind).map((one) => one.seen));
    console.log(`${what}, ${kind} key: ${[...seen].join("; ")}`);
  }
  for (const pair of pairs) {
    const { t, means } = welch(answers, pair);
    const [first, second] = means.map((mean) => mean.toFixed(0));
    console.log(
      `${what}, ${pair.join(" or ")}: ${first} µs against ${second} µs (${answers.length} requests), t = ${t.toFixed(2)}`,
    );
  }
}

async function measure(base: string, requests: number): Promise<void> {
  const send = (kind: Kind, number: number) =>
    answered(
      new URL("/v1/events", base),
      kind,
      JSON.stringify({
        events: [
          { metric: "views", key: nameOf(kind, number), person: `p${String(number).padStart(7, "0")}` },
        ],
      }),
    );
  const ask = (kind: Kind, number: number) => {
    const key = encodeURIComponent(nameOf(kind, number));
    return answered(new URL(`/v1/query?metric=views&last=1h&key=${key}`, base), kind);
  };
  const warmUp = Math.ceil(requests / 10);
  const [sent, asked]: [Answer[], Answer[]] = [[], []];
  for (let i = -warmUp; i < requests; i++) {
    const answer = await send(KINDS[randomInt(3)]!, i + warmUp);
    if (i >= 0) sent.push(answer);
  }
  for (let i = -warmUp; i < requests; i++) {
    const answer = await ask(KINDS[1 + randomInt(2)]!, 500_000 + i);
    if (i >= 0) asked.push(answer);
  }
  report("sending", sent, all);
  report("asking", asked, [["candidate", "new"]]);
  agent.destroy();
}

if (given.state !== undefined) await serve(given.state);
else {
  const folder = mkdtempSync(join(tmpdir(), "brume-keys-"));
  const child = fork(fileURLToPath(import.meta.url), ["--state", folder]);
  try {
    const base = await new Promise<string>((resolve) =>
      child.once("message", (url) => resolve(url as string)),
    );
    await measure(base, Number(given.requests));
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
