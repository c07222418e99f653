/** Another program, in another language, recomputes the tables that noise is drawn from (scripts/checkTables.py). */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { tableLines } from "../../scripts/writeTables.js";

const lines = tableLines();
const python = (input: readonly string[]) => {
  const { status, stdout, stderr, error } = spawnSync("python3", ["scripts/checkTables.py"], {
    input: input.join("\n"),
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  return { status, said: stdout + stderr };
};

test("alias tables, coins and local mechanisms are what rationals say", () => {
  expect(python(lines)).toEqual({ status: 0, said: "5 coins, 40 mechanisms, 22 scales: as recomputed\n" });
});

interface Table {
  kind: string;
  name?: string;
  columns: number[][];
  tails: number[][];
  words: number[];
  weights: string[];
}

/** The lowest bits of a threshold have a weight of 2⁻¹⁷⁶; 16 of them are too many. */
test.each<[string, (table: Table) => boolean, (table: Table) => void]>([
  [
    "a threshold that is off by 2⁻¹⁷²",
    ({ kind }) => kind === "scale",
    ({ tails }) => void (tails[0]![4]! ^= 16),
  ],
  [
    "two outcomes in each other's place",
    ({ kind }) => kind === "scale",
    ({ columns }) => void (columns[0]![0]! ^= 1),
  ],
  ["a coin that is off by 2⁻¹⁹⁰", ({ kind }) => kind === "coin", ({ words }) => void (words[5]! ^= 4)],
  [
    "a weight above e^ε times the other, by one in 2¹⁹⁰",
    ({ kind, name }) => kind === "mechanism" && name === "dayWindow",
    (table) => {
      table.weights[0] = String(BigInt(table.weights[0]!) + 4n);
      table.words[7]! += 4;
    },
  ],
])("%s is found", (_, which, spoil) => {
  const tables = lines.map((line) => JSON.parse(line) as Table);
  spoil(tables.find(which)!);
  const { status, said } = python(tables.map((table) => JSON.stringify(table)));
  expect(status).toBe(1);
  expect(said).toMatch(/^checkTables: /);
});
