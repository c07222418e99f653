/**
 * A reference reader of texts, written for clarity and not for speed: whole strings, no bytes, no pieces, no kernel.
 * Returns all numbers, or the message of the first fault.
 */
import type { TextOptions } from "../../src/adapters/textInput.js";

type Result = number[] | string;

export function carefulText(bytes: Uint8Array, { format, column, delimiter = "," }: TextOptions): Result {
  const text = new TextDecoder().decode(bytes);
  if (format === "csv") return csv(text, column, delimiter);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const numbers: number[] = [];
  for (const [i, line] of lines.entries()) {
    const value = format === "plain" ? cell(line) : format === "fimi" ? items(line) : json(line, column!);
    if (typeof value === "string") return `line ${i + 1}: ${value}`;
    numbers.push(value);
  }
  return numbers;
}

function cell(text: string): number | string {
  if (text.trim() === "") return "expected a finite number, got nothing";
  return Number.isFinite(Number(text)) ? Number(text) : "expected a finite number";
}

function items(line: string): number | string {
  return line.trim() === "" ? "expected at least one item" : line.trim().split(/\s+/).length;
}

function json(line: string, field: string): number | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "expected a JSON object";
  }
  if (typeof value !== "object" || value === null) return "expected a JSON object";
  for (const name of field.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return `there is no field "${field}"`;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === "string" && value.trim() !== "") value = Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : `field "${field}" is not a number`;
}

const INVALID = "expected valid CSV, got";

function csv(text: string, column: string | undefined, delimiter: string): Result {
  const numbers: number[] = [];
  let width: number | undefined;
  let index = 0;
  let line = 1;
  // A cell: quoted, or without any quote; then what ends it.
  const form = new RegExp(`("(?:[^"]|"")*"|[^"\n${delimiter}]*)(\r?\n|$|[${delimiter}])`, "y");
  for (let at = 0; at < text.length;) {
    const row: { text: string; line: number }[] = [];
    const blank = /\r?\n/y;
    blank.lastIndex = at;
    if (blank.test(text)) {
      at = blank.lastIndex;
      line++;
      continue;
    }
    for (let end = delimiter; end === delimiter;) {
      form.lastIndex = at;
      const found = form.exec(text);
      const where = `line ${line}, column ${row.length + 1}: ${INVALID}`;
      if (found === null) {
        if (text[at] !== '"') return `${where} a quote inside a field that does not begin with one`;
        return /^"(?:[^"]|"")*"(?!")/.test(text.slice(at))
          ? `${where} text after the closing quote of a field`
          : `${where} a quote that is never closed`;
      }
      const raw = found[1]!;
      end = found[2]!;
      const quoted = raw.startsWith('"');
      row.push({ text: quoted ? raw.slice(1, -1).replaceAll('""', '"') : raw.replace(/\r$/, ""), line });
      line += raw.split("\n").length - 1;
      at = form.lastIndex;
      if (end !== delimiter) line++;
    }
    if (width === undefined) {
      width = row.length;
      const names = row.map((one) => one.text.trim());
      index = column === undefined ? 0 : names.indexOf(column);
      if (index < 0) index = Number(column) - 1;
      if (column === undefined ? width > 1 : !Number.isInteger(index) || index < 0 || index >= width)
        return `column: ${column === undefined ? "missing; " : ""}expected a name in the header or a number from 1 to ${width}${column === undefined ? "" : `, got "${column}"`}`;
      if (row.some((one) => typeof cell(one.text) === "string")) continue;
    }
    if (row.length !== width) {
      const last = Math.min(row.length, width + 1);
      return `line ${row[last - 1]!.line}, column ${last}: ${INVALID} a row with more or fewer fields than the first row`;
    }
    const value = cell(row[index]!.text);
    if (typeof value === "string") return `line ${row[index]!.line}: ${value} in column ${index + 1}`;
    numbers.push(value);
  }
  return numbers;
}
