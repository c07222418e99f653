/** Two series as a picture of text: the first as dots, the second as points on top. */
const ROWS = 12;

export function chart(under: readonly number[], over: readonly number[]): string {
  const all = [...under, ...over];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const rowOf = (value: number) => Math.round(((value - low) / (high - low || 1)) * (ROWS - 1));
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const row = ROWS - 1 - i;
    const label = (low + ((high - low) * row) / (ROWS - 1)).toFixed(1).padStart(8);
    const cells = under.map((value, x) => (rowOf(over[x]!) === row ? "●" : rowOf(value) === row ? "·" : " "));
    return `${label} ┤${cells.join("")}`.trimEnd();
  });
  return lines.join("\n");
}
