/**
 * How long do people wait for a file? `brume release` on 10⁷ plain lines, 2·10⁶ rows of CSV and as many of NDJSON, to a file.
 * Opponents: awk adding up the same column, csv-parse, and a loop of JSON.parse. Processor time, least of several turns.
 */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { row, type Row } from "./harness.js";
import { buildCli, fileUrl, leastOf, nodeUsage, shellMs } from "./processes.js";

const LINES = 10_000_000;
const ROWS = 2_000_000;
const ROUNDS = 3;

const FILES = {
  "plain.txt": { count: LINES, head: "", line: (i: number) => `${(i * 7919) % 1000}\n` },
  "rows.txt": { count: ROWS, head: "", line: (i: number) => `${(i * 7919) % 1000}\n` },
  "rows.csv": {
    count: ROWS,
    head: "time,user,ms,page\n",
    line: (i: number) =>
      `${1700000000 + i},"u ${(i * 31) % 9973}",${((i * 7919) % 10000) / 10},"/page?q=a,b&n=${i % 97}"\n`,
  },
  "rows.ndjson": {
    count: ROWS,
    head: "",
    line: (i: number) =>
      `{"time":${1700000000 + i},"user":{"id":"u ${(i * 31) % 9973}","plan":"free"},"took":{"ms":${((i * 7919) % 10000) / 10}},"page":"/page?n=${i % 97}"}\n`,
  },
} as const;

function writeFiles(folder: string): void {
  for (const [name, { count, head, line }] of Object.entries(FILES)) {
    const file = openSync(join(folder, name), "w");
    writeSync(file, head);
    for (let from = 0; from < count; from += 50_000) {
      let text = "";
      for (let i = from; i < from + 50_000; i++) text += line(i);
      writeSync(file, text);
    }
    closeSync(file);
  }
}

/** Scripts that one would write first. Each prints the sum, so that nothing is left out. */
const OPPONENTS = {
  "csv.mjs": (file: string) => `import { createReadStream } from "node:fs";
import { parse } from ${JSON.stringify(fileUrl(resolve("node_modules/csv-parse/lib/index.js")))};
let sum = 0;
for await (const row of createReadStream(${JSON.stringify(file)}).pipe(parse({ columns: true }))) sum += Number(row.ms);
console.log(sum);`,
  "ndjson.mjs": (file: string) => `import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
let sum = 0;
for await (const line of createInterface({ input: createReadStream(${JSON.stringify(file)}) })) sum += JSON.parse(line).took.ms;
console.log(sum);`,
};

export async function* rows(): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), "brume-bench-"));
  try {
    process.stderr.write(`cli: writes ${LINES} lines and 3 × ${ROWS} rows\n`);
    writeFiles(folder);
    const main = await buildCli(resolve("build/bench"));
    const at = (name: string) => join(folder, name);
    for (const [name, program] of Object.entries(OPPONENTS))
      writeFileSync(at(name), program(at(name.replace(/(.*)\.mjs/, "rows.$1"))));
    const release =
      (name: string, ...more: string[]) =>
      () =>
        nodeUsage(
          [
            ...[main, "release", at(name), "--epsilon", "1", "--max", "1000", "--holdout", "4096"],
            ...["--out", at("out.txt"), ...more],
          ],
          folder,
        );
    process.stderr.write("cli: takes turns\n");
    const used = leastOf(ROUNDS, {
      plain: release("plain.txt"),
      awk: () => shellMs("awk", ["{s+=$1} END {print s}", at("plain.txt")]),
      asMany: release("rows.txt"),
      csv: release("rows.csv", "--column", "ms"),
      ndjson: release("rows.ndjson", "--column", "took.ms"),
    });
    const slow = leastOf(1, {
      csvParse: () => nodeUsage([at("csv.mjs")], folder),
      jsonParse: () => nodeUsage([at("ndjson.mjs")], folder),
    });
    const perByte = (name: "plain" | "csv", file: string) => used[name].ms / statSync(at(file)).size;
    const timesPlain = perByte("csv", "rows.csv") / perByte("plain", "plain.txt");
    const timesAsMany = used.csv.ms / used.asMany.ms;
    const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
    yield {
      ...row(
        "cli-plain",
        `${LINES} lines to a file in ${megabytes(used.plain.memory)}; naive: awk adds them up`,
        used.plain.ms,
        null,
        used.awk.ms,
        null,
      ),
      residentBytes: used.plain.memory,
    };
    yield {
      ...row(
        "cli-csv",
        `${ROWS} rows, one column, in ${megabytes(used.csv.memory)}, ${timesPlain.toFixed(2)}× the time per byte of plain lines and ${timesAsMany.toFixed(2)}× the time of as many; naive: csv-parse`,
        used.csv.ms,
        null,
        slow.csvParse.ms,
        null,
      ),
      residentBytes: used.csv.memory,
      timePerByteVsPlain: timesPlain,
      timeVsAsManyPlainLines: timesAsMany,
    };
    yield {
      ...row(
        "cli-ndjson",
        `${ROWS} rows, one field, in ${megabytes(used.ndjson.memory)}; naive: a loop of JSON.parse`,
        used.ndjson.ms,
        null,
        slow.jsonParse.ms,
        null,
      ),
      residentBytes: used.ndjson.memory,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
