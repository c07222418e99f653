/** Public columns of a CSV file that are copied to the output, because the caller named them. */
import { columnOf, type OnRow } from "../adapters/textRecords.js";
import { UsageError } from "./command.js";

export class Carried {
  readonly names: readonly string[];
  #columns: readonly number[] | undefined;
  #rows: string[][] = [];

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** Keeps the carried fields of every row until they are asked for. */
  readonly onRow: OnRow = (cells, isHeader) => {
    if (this.#columns === undefined) {
      if (!isHeader) throw new UsageError("--carry: expected a header with these names in the first row");
      this.#columns = this.names.map((name) => columnOf(cells, name, "carry"));
    } else this.#rows.push(this.#columns.map((column) => cells[column]!));
  };

  /** The fields of the newest rows, one row per published number; older rows were held out. */
  take(count: number): readonly (readonly string[])[] {
    const rows = count === 0 ? [] : this.#rows.slice(-count);
    this.#rows = [];
    return rows;
  }
}

/** @param asked names with commas between */
export function carriedOf(asked: string | undefined, format: string, output: string): Carried | undefined {
  if (asked === undefined) return undefined;
  if (format !== "csv" || output !== "csv")
    throw new UsageError("--carry: expected CSV in and --format csv out; other formats have no columns");
  const names = asked.split(",").map((name) => name.trim());
  if (names.includes("")) throw new UsageError(`--carry: expected names with commas between, got "${asked}"`);
  process.stderr.write(
    `Warning: the columns ${names.join(", ")} are copied to the output without any protection. Only name columns that are public.\n`,
  );
  return new Carried(names);
}
