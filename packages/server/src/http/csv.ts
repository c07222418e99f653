/** Answers as a table. A field that is an object or a list has a column for each of its parts. */

type Row = Map<string, string>;

export function csvOf(answers: readonly object[]): string {
  /** Names of fields that have parts in some row: where another row has nothing, the parts have the columns. */
  const whole = new Set<string>();
  const names = new Set<string>();
  const rows = answers.map((answer) => {
    const row: Row = new Map();
    flatten("", answer, row, whole);
    for (const name of row.keys()) names.add(name);
    return row;
  });
  const columns = [...names].filter((name) => !whole.has(name));
  // Numbers and true or false alone, so nothing needs quotes.
  const lines = rows.map((row) => columns.map((name) => row.get(name) ?? "").join(","));
  return [columns.join(","), ...lines, ""].join("\n");
}

function flatten(prefix: string, value: object, row: Row, whole: Set<string>): void {
  for (const [name, part] of Object.entries(value) as [string, object | number | string | boolean | null][])
    if (typeof part === "object" && part !== null) {
      whole.add(prefix + name);
      flatten(`${prefix}${name}.`, part, row, whole);
    } else row.set(prefix + name, part === null ? "" : String(part));
}
