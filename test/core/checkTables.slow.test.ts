/** Another program, in another language, recomputes the tables that noise is drawn from (scripts/checkTables.py). */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Dice } from "../../scripts/fuzz/dice.js";
import { tableLines } from "../../scripts/writeTables.js";

const lines = tableLines();
const python = (input: readonly string[], ...argv: string[]) => {
  const { status, stdout, stderr, error } = spawnSync("python3", ["scripts/checkTables.py", ...argv], {
    input: input.join("\n"),
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  return { status, said: stdout + stderr };
};

test("alias tables, coins, local mechanisms and thresholds are what rationals say", () => {
  expect(python(lines)).toEqual({
    status: 0,
    said: "5 coins, 40 mechanisms, 22 scales, 5 selections, 5 truncated: as recomputed\n",
  });
});

interface Table {
  kind: string;
  name?: string;
  columns: number[][];
  tails: number[][];
  words: number[];
  weights: string[];
  strideCoin: number[];
  k: number;
  delta: { denominator: string };
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
  [
    "a coin of a choice that is off by 2⁻¹⁹⁰",
    ({ kind }) => kind === "selection",
    ({ strideCoin }) => void (strideCoin[5]! ^= 4),
  ],
  ["a threshold of votes that is one too low", ({ kind }) => kind === "truncated", (table) => void table.k--],
  [
    "a δ that is 10⁻¹² too small",
    ({ kind }) => kind === "truncated",
    ({ delta }) =>
      void (delta.denominator = String((BigInt(delta.denominator) * (10n ** 12n + 1n)) / 10n ** 12n)),
  ],
])("%s is found", (_, which, spoil) => {
  const tables = lines.map((line) => JSON.parse(line) as Table);
  spoil(tables.find(which)!);
  const { status, said } = python(tables.map((table) => JSON.stringify(table)));
  expect(status).toBe(1);
  expect(said).toMatch(/^checkTables: /);
});

/** Places of all numbers of a table, without the options that it was made for. */
const placesIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, own]) => placesIn(own, [...path, name]))
    : [path];
const OPTIONS = new Set(["kind", "name", "numerator", "denominator", "asked"]);

type Place = Record<string, string | number>;

/** A copy of a table with one bit of one number turned. */
function turned(line: string, path: readonly string[], bit: number): string {
  const table = JSON.parse(line) as Place;
  const place = path.slice(0, -1).reduce((own, name) => own[name] as unknown as Place, table);
  const value = place[path.at(-1)!]!;
  const other = BigInt(value) ^ (1n << BigInt(bit));
  place[path.at(-1)!] = typeof value === "string" ? String(other) : Number(other);
  return JSON.stringify(table);
}

test("any bit of any number that noise is drawn from is found, if it is turned", () => {
  const dice = new Dice(7, 0);
  const spoiled = lines.flatMap((line) => {
    const places = placesIn(JSON.parse(line)).filter(([name]) => !OPTIONS.has(name!));
    const kindOf = ([name, digit]: readonly string[]): string =>
      name === "columns" || name === "tails" ? `${name} ${digit}` : name!;
    const kinds = [...new Set(places.map(kindOf))];
    // The lowest bit of three places of each kind, and another bit of each of them.
    return kinds.flatMap((kind) => {
      const own = places.filter((path) => kindOf(path) === kind);
      return Array.from({ length: 3 }, () => own[dice.below(own.length)]!).flatMap((path) =>
        [0, dice.below(32)].map((bit) => turned(line, path, bit)),
      );
    });
  });
  const { status, said } = python(spoiled, "--all");
  expect(status).toBe(1);
  expect(said.match(/^checkTables: /gm)).toHaveLength(spoiled.length);
  expect(spoiled.length).toBeGreaterThan(1000);
});
