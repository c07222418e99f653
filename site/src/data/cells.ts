/** Parses a cell of a file: a number, a time, or neither. */

/** "," where files write 3,14. */
export type DecimalMark = "." | ",";

const COMMA = /^\s*[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?([eE][-+]?\d+)?\s*$/;

/** A number as files write it: "12", " 3.5 ", "1e3", "1.234,5". Everything else is no number. */
export function cellNumber(cell: unknown, mark: DecimalMark = "."): number | undefined {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : undefined;
  if (typeof cell !== "string" || cell.trim() === "") return undefined;
  if (mark === "," && cell.includes(","))
    return COMMA.test(cell) ? Number(cell.replaceAll(".", "").replace(",", ".")) : undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** Seconds and milliseconds since 1970 between the years 2000 and 2100. */
const EPOCH = [
  [946_684_800, 4_102_444_800, 1000],
  [946_684_800_000, 4_102_444_800_000, 1],
] as const;

/** A moment in milliseconds since 1970: an ISO date, "2024-05-01 12:00", or a count since 1970. */
export function cellTime(cell: unknown): number | undefined {
  const number = cellNumber(cell);
  if (number !== undefined) {
    const scale = EPOCH.find(([from, to]) => number >= from && number < to)?.[2];
    return scale === undefined ? undefined : number * scale;
  }
  if (typeof cell !== "string" || !/^\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}|\s*$)/.test(cell)) return undefined;
  const text = cell.trim().replace(" ", "T");
  const time = Date.parse(/[Zz]|[+-]\d{2}:?\d{2}$/.test(text) || text.length === 10 ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Whether a time says which moment it means: a count since 1970, or an ISO date with its zone. */
export const hasZone = (cell: unknown): boolean =>
  cellNumber(cell) !== undefined ||
  (typeof cell === "string" && /\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})\s*$/i.test(cell));

export type Kind = "number" | "time" | "id" | "person" | "text";

/** The kind of a column, by most of its cells. */
export function kindOf(name: string, cells: readonly unknown[], mark: DecimalMark): Kind {
  const filled = cells.filter((cell) => cell !== undefined && cell !== null && cell !== "");
  const most = (test: (cell: unknown) => boolean) =>
    filled.length > 0 && 2 * filled.filter(test).length > filled.length;
  if (namesPeople(name)) return "person";
  if (most((cell) => cellTime(cell) !== undefined) && (looksTimed(name) || rises(filled.map(cellTime))))
    return "time";
  if (most(looksLikeId)) return "person";
  if (!most((cell) => cellNumber(cell, mark) !== undefined)) return "text";
  const numbers = filled.map((cell) => cellNumber(cell, mark));
  if (/(^|[^a-z])(id|index|row|nr|no)$/i.test(name.trim()))
    return filled.length >= 10 && new Set(numbers).size < filled.length ? "person" : "id";
  return filled.length >= 10 && numbers.every((n, i) => i === 0 || n === numbers[i - 1]! + 1)
    ? "id"
    : "number";
}

const looksTimed = (name: string) => /time|date|stamp|when|(^|[^a-z])ts$/i.test(name);

const rises = (times: readonly (number | undefined)[]) =>
  times.every((time, i) => i === 0 || (time ?? Infinity) >= (times[i - 1] ?? -Infinity));

/** An address of mail, a UUID, or a long hexadecimal word. */
const looksLikeId = (cell: unknown) =>
  typeof cell === "string" &&
  /^\s*([^\s@]+@[^\s@]+\.[^\s@]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=\S*[a-f])(?=\S*\d)[0-9a-f]{12,})\s*$/i.test(
    cell,
  );

const namesPeople = (name: string) =>
  /(^|[^a-z])(user|person|people|customer|client|visitor|caller|subscriber|guest|patient|member|employee|student|driver|household|account|device|session|email|e-mail)s?([ _-]?(id|no|nr|name|key|hash))?$/i.test(
    name.trim().replace(/([a-z])([A-Z])/g, "$1_$2"),
  );

/** The unit that the name of a column tells: "load (ms)", "power [kW]", "wait_ms"; "" if it tells none. */
export const unitOf = (name: string): string =>
  /[([]\s*([^()[\]]{1,12}?)\s*[)\]]\s*$/.exec(name)?.[1] ??
  /[._ ](ms|s|min|h|kwh|wh|kw|w|kb|mb|gb|bytes|km|m|kg|g|eur|usd|€|\$|°c|percent)$/i.exec(name.trim())?.[1] ??
  "";
