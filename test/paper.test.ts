/** docs/paper.md leads from the paper to the code: every kernel, twin, test, bench row and figure it names is there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FIGURES } from "../research/figures/index.js";

type Row = Readonly<Record<string, string>>;

/** All rows of all tables of a page, cells by the head of their column. */
function rowsOf(page: string): Row[] {
  const rows: Row[] = [];
  let head: string[] | undefined;
  for (const line of page.split("\n")) {
    const cells = line.startsWith("|")
      ? line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim())
      : undefined;
    if (cells === undefined) head = undefined;
    else if (head === undefined) head = cells;
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell)))
      rows.push(Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ""])));
  }
  return rows;
}

const named = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

/** Sources of the benches: each row's path and case stand there. */
const benches = readdirSync("bench")
  .filter((name) => name.endsWith(".bench.ts"))
  .map((name) => readFileSync(`bench/${name}`, "utf8"));

/** A bench row by its path, and by the beginning of its case if that is given. */
function hasBench(name: string): boolean {
  const [path, start] = name.split(": ") as [string, string | undefined];
  return benches.some(
    (source) =>
      source.includes(`path: "${path}"`) && (start === undefined || source.includes(`case: "${start}`)),
  );
}

/** Faults in a row of the tables of ToPS and ToPL. */
function faultsOf(row: Row): string[] {
  const wanted = {
    kernel: /^assembly\//,
    twin: /^src\/core\/js\//,
    pipeline: /^(src|research)\//,
    test: /^test\//,
  };
  const faults: string[] = [];
  for (const [column, place] of Object.entries(wanted)) {
    const cell = row[column]!;
    const files = named(cell).filter((name) => name.includes("/"));
    if (files.length === 0 && !/^(none|all of this table)/.test(cell))
      faults.push(`${column}: names nothing`);
    for (const file of files)
      if (!place.test(file) || !existsSync(file)) faults.push(`${column}: ${file} is not there`);
  }
  if (named(row["kernel"]!).length > 0 !== named(row["twin"]!).length > 0)
    faults.push("a kernel without twin");
  const rows = named(row["bench row"]!);
  if (rows.length === 0 && row["bench row"] !== "none") faults.push("bench row: names nothing");
  for (const name of rows) if (!hasBench(name)) faults.push(`bench row: ${name} is not there`);
  return faults;
}

const rows = rowsOf(readFileSync("docs/paper.md", "utf8"));
const parts = rows.filter((row) => "kernel" in row);

test.each(parts.map((row) => [row["in the paper"]!, row] as const))("%s", (_, row) => {
  expect(faultsOf(row)).toEqual([]);
});

test("every equation, the algorithm and both systems have a row", () => {
  const all = parts.map((row) => row["in the paper"]!).join("; ");
  const numbers = [...all.matchAll(/Eq\. ([\d, –]+)/g)].flatMap(([, list]) =>
    list!
      .split(",")
      .filter((part) => part.trim() !== "")
      .flatMap((part) => {
        const [from, to = from] = part.trim().split("–").map(Number) as [number, number?];
        return Array.from({ length: to - from + 1 }, (_, i) => from + i);
      }),
  );
  expect([...new Set(numbers)].sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, i) => i + 1));
  for (const part of [
    "Algorithm 1",
    "Theorem 3.1",
    "Definition 2.1",
    "Definition 2.2",
    "Appendices A and B",
    "Appendix D",
  ])
    expect(all).toContain(part);
});

test("every kernel of the paper's algorithms is named", () => {
  const kernels = readdirSync("assembly").filter(
    (name) => name.endsWith(".ts") && !/^(noise|data|heapBase|text|day)/.test(name),
  );
  const all = parts.map((row) => row["kernel"]!).join();
  expect(kernels.filter((name) => !all.includes(`assembly/${name}`))).toEqual([]);
});

describe("figures", () => {
  const figures = rows.filter((row) => "`--figure`" in row);

  test("are all of the paper's, in order, and brume paper makes each", () => {
    expect(figures.map((row) => row["in the paper"])).toEqual([
      "Table 1",
      ...Array.from({ length: 10 }, (_, i) => `Figure ${i + 1}`),
    ]);
    for (const row of figures) {
      const [id] = named(row["`--figure`"]!);
      const figure = FIGURES.find((one) => one.id === id);
      expect(figure?.title).toContain(row["in the paper"]!);
      const [file] = named(row["made by"]!);
      expect(readFileSync(file!, "utf8")).toContain(`id: "${id}"`);
    }
  });
});

test("a file, a twin and a bench row that are not there are noticed", () => {
  const good = parts.find((row) => row["kernel"]!.includes("consistency.ts"))!;
  expect(faultsOf({ ...good, kernel: "`assembly/nowhere.ts`" })).toEqual([
    "kernel: assembly/nowhere.ts is not there",
  ]);
  expect(faultsOf({ ...good, twin: "none" })).toEqual(["a kernel without twin"]);
  expect(faultsOf({ ...good, "bench row": "`nowhere`" })).toEqual(["bench row: nowhere is not there"]);
  expect(faultsOf({ ...good, "bench row": "`release: nothing such`" })).toHaveLength(1);
  expect(faultsOf({ ...good, test: "somewhere" })).toEqual(["test: names nothing"]);
});
