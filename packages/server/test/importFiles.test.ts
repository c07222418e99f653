/** `brume serve --import` on files: every format gives the same numbers, and files that make no sense are refused first. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { Arguments } from "../../../src/cli/command.js";
import { LogFile } from "../../../src/cli/logFile.js";
import { serve } from "../../../src/cli/serve.js";
import type { Config } from "../src/config/types.js";
import { importLog } from "../src/import/importLog.js";
import { Service } from "../src/service.js";
import { atEnd, KEY, temporaryFolder } from "./support.js";

const FROM = Date.UTC(2026, 2, 2);
const HOUR = 3_600_000;
const TO = FROM + 6 * HOUR;
const clock = { wall: () => TO + HOUR, steady: () => 0 };

const configOf = (folder: string): Config => ({
  epsilon: 5000,
  key: { env: "UNUSED" },
  store: { sqlite: join(folder, "state") },
  metrics: {
    requests: { type: "count", epsilon: 1000, every: "1h", keys: ["home", "search"], perPerson: 2 },
    took: {
      type: "histogram",
      epsilon: 1000,
      every: "1h",
      levels: ["1h"],
      edges: [10, 100],
      protect: "event",
    },
  },
  log: "silent",
});

interface Request {
  readonly ts: string;
  readonly route: string;
  readonly user: string;
  readonly took: { readonly ms: number };
}
const REQUESTS = Array.from({ length: 600 }, (_, i): Request => ({
  ts: new Date(FROM + ((i * 7919) % 600) * 36_000).toISOString(),
  route: i % 3 === 0 ? "search" : "home",
  user: `user ${i % 400}`,
  took: { ms: i % 2 === 0 ? 5 : 50 },
}));
const ndjson = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const csv = (rows: readonly Request[]): string =>
  [
    "ts;took.ms;user;route",
    ...rows.map(({ ts, took, user, route }) => `${ts};${took.ms};"${user}";${route}`),
  ].join("\r\n");

const WRITER = "hyparquet-writer"; // a name: other worktrees may not have it
const { parquetWriteBuffer } = (await import(WRITER)) as {
  parquetWriteBuffer: (options: { columnData: object[]; rowGroupSize: number }) => ArrayBuffer;
};
const parquet = (rows: readonly Request[]): Uint8Array => {
  const columnData = [
    { name: "ts", data: rows.map(({ ts }) => new Date(ts)), type: "TIMESTAMP" },
    { name: "user", data: rows.map(({ user }) => user) },
    { name: "route", data: rows.map(({ route }) => route) },
    { name: "took.ms", data: rows.map(({ took }) => took.ms), type: "INT32" },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 100 }));
};

const FLAGS = ["--time", "ts", "--value", "took.ms", "--person", "user", "--group-by", "route"];
const logOf = (path: string, ...flags: string[]): LogFile =>
  new LogFile(new Arguments(serve, ["--import", path, ...flags]), path);

async function importFile(name: string, content: string | Uint8Array, ...flags: string[]): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, content);
  const log = logOf(path, ...(flags.length === 0 ? FLAGS : flags));
  await importLog(configOf(folder), log, { key: KEY, clock, from: FROM, to: TO });
  return folder;
}

async function numbers(folder: string): Promise<number[]> {
  const service = await Service.open(configOf(folder), { key: KEY, clock });
  atEnd(() => service.stop());
  const found: number[] = [];
  for (let hour = FROM; hour < TO; hour += HOUR) {
    const range = { from: hour, to: hour + HOUR };
    for (const key of ["home", "search"])
      found.push(((await service.ask("requests", key, range, {})) as { value: number }).value);
    found.push(...((await service.ask("took", "", range, {})) as unknown as { counts: number[] }).counts);
  }
  return found.map(Math.round);
}

/** The first two requests of each user, by hour and route; and all of them by how long they took. */
function truth(): number[] {
  const seen = new Map<string, number>();
  const inOrder = [...REQUESTS].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const counts = inOrder.filter(({ user }) => {
    seen.set(user, (seen.get(user) ?? 0) + 1);
    return seen.get(user)! <= 2;
  });
  return Array.from({ length: 6 }, (_, hour) => {
    const isIn = ({ ts }: Request): boolean => Math.floor((Date.parse(ts) - FROM) / HOUR) === hour;
    const routes = ["home", "search"].map(
      (key) => counts.filter((row) => isIn(row) && row.route === key).length,
    );
    const own = REQUESTS.filter(isIn);
    return [
      ...routes,
      own.filter(({ took }) => took.ms < 10).length,
      own.filter(({ took }) => took.ms > 10).length,
      0,
    ];
  }).flat();
}

test.each([
  ["log.ndjson", ndjson(REQUESTS), FLAGS],
  ["log.ndjson.gz", gzipSync(ndjson(REQUESTS)), FLAGS],
  ["log.csv", csv(REQUESTS), [...FLAGS, "--delimiter", ";"]],
  ["log.parquet", parquet(REQUESTS), FLAGS],
  ["log.txt", ndjson(REQUESTS), [...FLAGS, "--input-format", "ndjson"]],
])("%s fills the same numbers", async (name, content, flags) => {
  expect(await numbers(await importFile(name, content, ...flags))).toEqual(truth());
});

test("a column may say which metric a row is of, and seconds since 1970 when", async () => {
  const rows = REQUESTS.flatMap(({ ts, route, user, took }) => [
    { metric: "requests", at: Date.parse(ts) / 1000, key: route, person: user },
    { metric: "took", at: Date.parse(ts) / 1000, value: took.ms },
  ]);
  const flags = ["--metric", "metric", "--time", "at", "--time-unit", "s", "--value", "value"];
  const folder = await importFile(
    "log.jsonl",
    ndjson(rows),
    ...flags,
    "--person",
    "person",
    "--group-by",
    "key",
  );
  expect(await numbers(folder)).toEqual(truth());
});

const [FIRST] = REQUESTS as [Request];
test.each([
  [
    "a row that is no JSON",
    "log.ndjson",
    `${ndjson([FIRST])}{"ts":secret\n`,
    "line 2: expected a JSON object",
  ],
  [
    "a row without a time",
    "log.ndjson",
    ndjson([FIRST, { user: "secret" }]),
    'line 2: expected something in "ts"',
  ],
  [
    "a time without a zone",
    "log.ndjson",
    ndjson([{ ...FIRST, ts: "2026-03-02 secret" }]),
    'line 1: expected a time in "ts"',
  ],
  [
    "a value that is none",
    "log.ndjson",
    ndjson([{ ...FIRST, took: { ms: "secret" } }]),
    "line 1: expected a finite number",
  ],
  [
    "a row longer than a megabyte",
    "log.ndjson",
    `{"ts":"${"secret".repeat(300_000)}`,
    "expected rows of at most 1048576 bytes",
  ],
  [
    "an id of 5,000 characters",
    "log.ndjson",
    ndjson([{ ...FIRST, user: "secret".repeat(900) }]),
    "at most 4096 characters",
  ],
  ["gzip that breaks off", "log.ndjson.gz", gzipSync(ndjson(REQUESTS)).subarray(0, 2000), "damaged gzip"],
  [
    "Parquet that breaks off",
    "log.parquet",
    parquet(REQUESTS).subarray(0, 3000),
    "log.parquet: damaged Parquet",
  ],
  ["CSV without the column", "log.csv", "time,user\n1,secret\n", "expected a name in the header"],
  ["CSV with a field too many", "log.csv", "ts,took.ms,user,route\n1,2,3,4,secret\n", "more or fewer fields"],
])("%s is refused before anything is taken", async (_, name, content, message) => {
  const folder = temporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, content);
  const run = importLog(configOf(folder), logOf(path, ...FLAGS), { key: KEY, clock, from: FROM, to: TO });
  const failure = (await run.catch((error: unknown) => error)) as Error;
  expect(failure.message).toContain(message);
  expect(failure.message).not.toContain("secret");
  expect(existsSync(join(folder, "state"))).toBe(false);
});

test("what a metric needs and the flags do not say is asked for, by its name", async () => {
  const path = join(temporaryFolder(), "log.ndjson");
  writeFileSync(path, ndjson(REQUESTS));
  const failure = async (...flags: string[]) => {
    const folder = temporaryFolder();
    const run = async () =>
      importLog(configOf(folder), logOf(path, ...flags), { key: KEY, clock, from: FROM, to: TO });
    return ((await run().catch((error: unknown) => error)) as Error).message;
  };
  expect(await failure()).toContain("--time: missing");
  expect(await failure("--time", "ts", "--group-by", "route")).toContain(
    "--person: missing; expected the column with people, which the metric requests has",
  );
  expect(await failure("--time", "ts", "--person", "user")).toContain("--group-by: missing");
  expect(await failure("--time", "ts", "--only", "took")).toContain(
    "--value: missing; expected the column with values, which the metric took has",
  );
  // A column that nothing reads was meant for something.
  const took = ["--time", "ts", "--only", "took", "--value", "took.ms"];
  expect(await failure(...took, "--person", "user")).toContain(
    '--person: expected none, since every metric has protect: "event", which protects one event; set perPerson',
  );
  expect(await failure(...took, "--group-by", "route")).toContain(
    "--group-by: expected none, since no metric has keys",
  );
  expect(await failure("--time", "ts", "--only", "token")).toContain(
    '--only: expected metrics that take events (requests, took), got "token"',
  );
  expect(() => logOf("-", "--time", "ts")).toThrow(
    "--import: expected a file, since it is read more than once",
  );
});

test("a file that is written to during the import is noticed, and the state waits for the file as it was", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "log.ndjson");
  writeFileSync(path, ndjson(REQUESTS));
  const log = logOf(path, ...FLAGS);
  const digest = log.digest.bind(log);
  log.digest = async () => {
    const found = await digest();
    writeFileSync(path, ndjson(REQUESTS.slice(1))); // once the first look is over
    return found;
  };
  const options = { key: KEY, clock, from: FROM, to: TO };
  await expect(importLog(configOf(folder), log, options)).rejects.toThrow(
    "the log changed while it was read",
  );
  writeFileSync(path, ndjson(REQUESTS));
  await importLog(configOf(folder), logOf(path, ...FLAGS), options);
  expect(await numbers(folder)).toEqual(truth());
  expect(readFileSync(join(folder, "state", "state.sqlite"), "latin1")).not.toContain("user 1");
});
