/** Columns of text, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, i) => (/^[\d.+-]/.test(cell) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join("  ")}`.trimEnd();
  return [line(head), `  ${widths.map((width) => "─".repeat(width)).join("  ")}`, ...rows.map(line)].join(
    "\n",
  );
}
