/** Runs of `brume release --every --state` for tests: one command line, and what a run published. */
import { existsSync, readFileSync } from "node:fs";

/** Input of a run, and how long it may wait. */
export interface ReleaseRun {
  readonly state: string;
  readonly input: string;
  readonly out: string;
  readonly every: "1m" | "1h";
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** A command line whose ε is so large that the noise is below ½; the seed fixes it. */
export function releaseCommand({ state, input, out, every, from, to }: ReleaseRun): string[] {
  const [start, end] = [from, to].map((time) => new Date(time).toISOString()) as [string, string];
  const flags = ["--every", every, "--time", "ts", "--epsilon", "128", "--from", start, "--to", end];
  const levels = every === "1m" ? "1m,1h" : "1h,1d";
  const more = ["--levels", levels, "--input-format", "csv", "--unsafe-seed", "runs"];
  return ["release", input, ...flags, ...more, "--state", state, "--out", out];
}

/** A file of events at these times. */
export const eventRows = (times: readonly number[]): string =>
  ["ts", ...times.map((time) => new Date(time).toISOString()), ""].join("\n");

/** A period that a run published. */
export interface PublishedLine {
  readonly from: string;
  readonly count: number;
}

/** Lines that a run wrote to its output; empty if there is no output. */
export function publishedLines(out: string): PublishedLine[] {
  if (!existsSync(out)) return [];
  const lines = readFileSync(out, "utf8").trim().split("\n").slice(1);
  return lines.map((line) => {
    const [from, , count] = line.split(",");
    return { from: from!, count: Math.round(Number(count)) };
  });
}
