/** Which of some names somebody meant. */

/** The name with the fewest changed letters, if they are few; undefined if none comes close. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const most = word.length < 4 ? 1 : 2;
  const near = names
    .map((name) => ({ name, changes: distance(word, name) }))
    .filter(({ name, changes }) => changes <= most || (word.length > 2 && name.startsWith(word)));
  near.sort((a, b) => a.changes - b.changes);
  return near[0]?.name;
}

/** Letters to add, drop, replace or swap with the next one. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** "; did you mean --epsilon?", or nothing. */
export function didYouMean(word: string, names: readonly string[], prefix = ""): string {
  const found = nearest(word, names);
  return found === undefined ? "" : `; did you mean ${prefix}${found}?`;
}
