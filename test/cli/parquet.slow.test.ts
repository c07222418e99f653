/** Parquet in: the same numbers as from CSV, and no file that lies about its sizes takes memory for it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DataError } from "../../src/cli/command.js";
import { eventRows, type EventRow } from "../../src/cli/eventRows.js";
import { formatOf, openBytes, readNumbers } from "../../src/cli/input.js";
import { checkPages } from "../../src/cli/parquetPages.js";

interface Writer {
  parquetWriteBuffer: (options: {
    columnData: { name: string; data: readonly unknown[]; type?: string; nullable?: boolean }[];
    codec?: string;
    rowGroupSize?: number;
    compressors?: Record<string, (bytes: Uint8Array) => Uint8Array>;
  }) => ArrayBuffer;
}
const WRITER = "hyparquet-writer"; // a name: other worktrees may not have it
const { parquetWriteBuffer } = (await import(WRITER)) as Writer;

const folder = mkdtempSync(join(tmpdir(), "brume-parquet-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const FROM = Date.UTC(2026, 2, 2);
const ROWS = Array.from({ length: 20_000 }, (_, i) => ({
  ts: new Date(FROM + 1000 * i),
  ms: (i * 37) % 500 === 0 ? 0.25 : (i * 37) % 500,
  user: BigInt(i % 7) + (i % 2 === 0 ? 0n : 2n ** 60n),
  shop: ["berlin", "paris", "oslo"][i % 3]!,
}));

function written(rows: typeof ROWS, more: { codec?: string; rowGroupSize?: number } = {}): Uint8Array {
  const column = <N extends keyof (typeof ROWS)[number]>(name: N, type: string) => ({
    ...{ name, type, data: rows.map((row) => row[name]) },
  });
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        column("ts", "TIMESTAMP"),
        column("ms", "DOUBLE"),
        column("user", "INT64"),
        column("shop", "STRING"),
      ],
      ...more,
    }),
  );
}

const COLUMNS = { time: "ts", value: "ms", person: "user", group: "shop" };
async function events(path: string, names = Object.values(COLUMNS)): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for await (const row of eventRows(
    openBytes(path, names),
    formatOf(path, undefined),
    COLUMNS,
    undefined,
    "ms",
  ))
    rows.push(row);
  return rows;
}

test.each([
  ["snappy, three row groups", { rowGroupSize: 8000 }],
  ["not compressed, one row group", { codec: "UNCOMPRESSED" }],
])("events: %s, as from CSV", async (_, more) => {
  const csv = [
    "ts,ms,user,shop",
    ...ROWS.map(({ ts, ms, user, shop }) => `${ts.toISOString()},${ms},${user},${shop}`),
  ];
  const fromCsv = await events(file("events.csv", csv.join("\n")));
  const fromParquet = await events(file("events.parquet", written(ROWS, more)));
  expect(fromParquet.length).toBe(20_000);
  expect(fromParquet).toEqual(fromCsv);
  // Two people whose numbers a double cannot tell apart are two.
  expect(new Set(fromParquet.map(({ person }) => person)).size).toBe(14);
});

test("numbers of one column, and only that column is read", async () => {
  const path = file("numbers.parquet", written(ROWS));
  expect(await readNumbers(path, formatOf(path, undefined), "ms")).toEqual(
    Float64Array.from(ROWS, ({ ms }) => ms),
  );
  await expect(readNumbers(path, formatOf(path, undefined), "latency")).rejects.toThrow(
    'columns: expected columns of the file (ts, ms, user, shop), got "latency"',
  );
});

test("pages in gzip are unpacked, and no further than they say", async () => {
  const { gzipSync } = await import("node:zlib");
  const made = parquetWriteBuffer({
    columnData: [{ name: "ms", data: ROWS.map(({ ms }) => ms), type: "DOUBLE" }],
    codec: "GZIP",
    compressors: { GZIP: (bytes) => new Uint8Array(gzipSync(bytes)) },
  });
  const path = file("gzip.parquet", new Uint8Array(made));
  expect((await readNumbers(path, "ndjson", "ms")).length).toBe(20_000);
});

test("an empty value is told by its row", async () => {
  const data = ROWS.slice(0, 10).map(({ ms }, i) => (i === 6 ? null : ms));
  const path = file(
    "empty.parquet",
    new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "ms", data, type: "DOUBLE" }] })),
  );
  await expect(readNumbers(path, "ndjson", "ms")).rejects.toThrow("line 7");
});

const small = written(ROWS.slice(0, 200), { rowGroupSize: 50 });

test("files that break off, or say wrong things about themselves, are refused and quote nothing", async () => {
  const lying = (change: (bytes: DataView) => void): Uint8Array => {
    const copy = small.slice();
    change(new DataView(copy.buffer));
    return copy;
  };
  const at = small.length - 8;
  const wrong: Uint8Array[] = [
    small.subarray(0, small.length / 2),
    small.subarray(0, 6),
    lying((bytes) => bytes.setUint32(at, 0xffffffff, true)), // a footer of 4 GB
    lying((bytes) => bytes.setUint32(at, small.length - 12, true)), // one that begins with data
    lying((bytes) => bytes.setUint32(at + 4, 0, true)),
  ];
  for (const bytes of wrong) {
    const failure = await events(file("wrong.parquet", bytes)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DataError);
    expect((failure as Error).message).toMatch(
      /wrong\.parquet: damaged Parquet, or a kind that is not read$/,
    );
  }
});

test("any byte may be another one: a file is read or refused, and never without an end", async () => {
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const outcomes = { read: 0, refused: 0 };
  for (let turn = 0; turn < 200; turn++) {
    const bytes = small.slice();
    // Half of them in the footer, where sizes are.
    const place = turn % 2 === 0 ? bytes.length - 1 - random(2000) : 4 + random(bytes.length - 4);
    bytes[place] = random(256);
    try {
      await events(file("fuzzed.parquet", bytes));
      outcomes.read++;
    } catch (error) {
      const { name, message } = error as Error;
      const isKnown = error instanceof DataError || name === "TextError" || "exitCode" in (error as object);
      expect([turn, name, isKnown ? "" : message]).toEqual([turn, name, ""]);
      outcomes.refused++;
    }
  }
  expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(10);
});

/** A header of a data page: sizes and number of values, in Thrift's compact protocol. */
function pageHeader(size: number, packed: number, values: number, encoding = 0): Uint8Array {
  const varint = (value: number): number[] => {
    const bytes: number[] = [];
    for (let rest = 2 * value; ; rest = Math.floor(rest / 128)) {
      if (rest < 128) return [...bytes, rest];
      bytes.push(128 + (rest % 128));
    }
  };
  const own = [0x15, ...varint(values), 0x15, 2 * encoding, 0x15, 6, 0x15, 6, 0];
  return Uint8Array.of(0x15, 0, 0x15, ...varint(size), 0x15, ...varint(packed), 0x2c, ...own, 0);
}

const column = { rows: 100, levels: 0, unpack: (bytes: Uint8Array) => bytes, most: 2 ** 20 };

test("pages: sizes and numbers of values are checked against the row group before anything is unpacked", () => {
  const page = (size: number, packed: number, values: number): Uint8Array => {
    const header = pageHeader(size, packed, values);
    const bytes = new Uint8Array(header.length + 8);
    bytes.set(header);
    return bytes;
  };
  expect(() => checkPages(page(8, 8, 100), column)).not.toThrow();
  for (const [size, packed, values] of [
    [2 ** 30, 8, 100], // a gigabyte behind 20 bytes
    [8, 9, 100], // more bytes than there are
    [8, 8, 2 ** 31 - 1], // two billion values
    [8, 8, 101],
    [8, 8, 99],
  ] as const)
    expect(() => checkPages(page(size, packed, values), column)).toThrow("do not fit their row group");
  expect(() => checkPages(Uint8Array.of(0x19, 0xfc, 255, 255, 255, 255, 15), column)).toThrow();
});

test("pages: a run of two billion equal values, in levels or in indices, is found before it is made", () => {
  const runOf = (count: number): number[] => {
    const bytes: number[] = [];
    for (let rest = 2 * count; ; rest = Math.floor(rest / 128)) {
      if (rest < 128) return [...bytes, rest, 1];
      bytes.push(128 + (rest % 128));
    }
  };
  const page = (levels: number[], indices: number[]): Uint8Array => {
    const own = [levels.length, 0, 0, 0, ...levels, 1, ...indices];
    const header = pageHeader(own.length, own.length, 100, 8);
    return Uint8Array.of(...header, ...own);
  };
  const optional = { ...column, levels: 1 };
  expect(() => checkPages(page(runOf(100), runOf(100)), optional)).not.toThrow();
  expect(() => checkPages(page(runOf(2 ** 31), runOf(100)), optional)).toThrow("do not fit");
  expect(() => checkPages(page(runOf(100), runOf(2 ** 31)), optional)).toThrow("do not fit");
  expect(() => checkPages(page(runOf(100), runOf(2 ** 40)), optional)).toThrow("do not fit");
});

test("a text that stands in the file once and in every row is not repeated without a bound", async () => {
  const data = Array<string>(5000).fill("x".repeat(100_000));
  const made = parquetWriteBuffer({ columnData: [{ name: "shop", data, type: "STRING" }] });
  expect(made.byteLength).toBeLessThan(2 ** 20);
  const source = openBytes(file("long.parquet", new Uint8Array(made)), ["shop"]);
  const read = async () => {
    for await (const piece of source.pieces) expect(piece.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toThrow("expected texts of at most 16384 characters");
});
