/**
 * Head of a file of evidence. Its first line names version, commit, length of the runs, day and machine: a figure
 * of another commit, or of a checkout that had changes, is not taken for one of this.
 */

/** Origin of a figure. */
export interface Origin {
  readonly version: string;
  /** Null if files had changed since the last commit. */
  readonly commit: string | null;
  readonly runs: "short" | "long";
  readonly node: string;
  readonly cpu: string;
}

/** A study as evidence.json lists it. */
export interface Listed extends Origin {
  readonly file: string;
  readonly date: string;
  readonly summary: string;
  /** Whether the figure is of the commit, the length of runs and the machine of this run. */
  readonly current: boolean;
}

const HEADING =
  /^# brume (\S+), (?:commit ([\da-f]{40})|no commit: files had changed), (short|long) runs, (\d{4}-\d\d-\d\d), node (\S+), (.*)$/;

/** The text of a file: its first line, and what the study printed. */
export function withHeading(
  { version, commit, runs, node, cpu }: Origin,
  date: string,
  text: string,
): string {
  const of = commit === null ? "no commit: files had changed" : `commit ${commit}`;
  return `# brume ${version}, ${of}, ${runs} runs, ${date}, node ${node}, ${cpu}\n${text.trimEnd()}\n`;
}

/** The study in a file; undefined if the file does not say what it was measured on. */
export function listed(file: string, text: string, now: Origin): Listed | undefined {
  const found = HEADING.exec(text.slice(0, text.indexOf("\n")));
  if (found === null) return undefined;
  const [, version, commit, runs, date, node, cpu] = found;
  const origin = { version: version!, commit: commit ?? null, runs: runs as "short", node: node!, cpu: cpu! };
  const summary = text.trimEnd().split("\n").at(-1)!;
  return { file, ...origin, date: date!, summary, current: isSame(origin, now) };
}

/** Nothing is known of a checkout that has changes: it is not even the same as itself. */
const isSame = (a: Origin, b: Origin): boolean =>
  a.commit !== null &&
  (["version", "commit", "runs", "node", "cpu"] as const).every((name) => a[name] === b[name]);

/** A measured coverage of intervals: `held` of so many runs had the truth in the interval. */
export interface Covered {
  readonly what: string;
  readonly data: string;
  readonly question: string;
  readonly epsilon: number;
  readonly runs: number;
  readonly held: number;
}

/** One line per data set, question and ε, with the lowest share last. */
export function coverageTable(rows: readonly Covered[]): string {
  const head = ["what", "data set", "question", "ε", "runs", "held"];
  const cells = rows.map(({ what, data, question, epsilon, runs, held }) => [
    ...[what, data, question, String(epsilon), String(runs)],
    `${(100 * held).toFixed(2)} %`,
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ");
  const lowest = rows.reduce((a, b) => (b.held < a.held ? b : a));
  return [
    ...[head, ...cells].map((row) => line(row).trimEnd()),
    `95 % intervals in ${rows.length} cells: the lowest holds in ${(100 * lowest.held).toFixed(2)} % of ${lowest.runs} runs (${lowest.what}, ${lowest.data}, ${lowest.question}, ε = ${lowest.epsilon})`,
  ].join("\n");
}

/** Mutants of all groups, from the last line of each. */
export function mutantTotal(text: string): string {
  const groups = [...text.matchAll(/^.*: (\d+) of (\d+) mutants noticed/gm)];
  const sum = (i: 1 | 2) => groups.reduce((total, group) => total + Number(group[i]), 0);
  return `${sum(1)} of ${sum(2)} mutants noticed, in ${groups.length} groups`;
}
