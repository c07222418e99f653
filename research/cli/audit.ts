/** brume audit: attacks a mechanism and says how much of its ε the attack has shown. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Audit,
  audit as runAudit,
  type AuditOptions,
  type AuditSamples,
  MECHANISM_NAMES,
} from "../audit/audit.js";
import { parseBreak } from "../audit/breaks.js";
import { given } from "../../src/core/given.js";
import { software } from "../../src/core/software.js";
import { type Arguments, type Command, DataError, UsageError } from "../../src/cli/command.js";
import { Progress } from "../../src/cli/progress.js";
import { SUMMARIES } from "../../src/cli/summaries.js";
import { inWords } from "../../src/cli/systemErrors.js";

export const audit: Command = {
  name: "audit",
  operands: "",
  summary: `${SUMMARIES.audit}\nMechanisms: ${MECHANISM_NAMES.join(", ")}.`,
  options: {
    mechanism: { value: "M", help: "what to attack (required)" },
    epsilon: { value: "E", help: "the ε it claims (required)" },
    samples: { value: "N", help: "runs on each of two inputs (seconds: 40000 to 1000000)" },
    break: {
      value: "B",
      help: "spoil it first, to see it caught: scale=0.5, tree-scale=0.484, choice-scale=0.5, float, skip-node or counted-again; a mechanism takes those that are caught at its default --samples and ε = 1",
    },
    dump: { value: "FOLDER", help: "also write all runs for other testers: float64 files and samples.json" },
    "unsafe-seed": { value: "S", help: "the same runs every time" },
    json: { help: "one JSON object instead of a sentence" },
  },
  example: "brume audit --mechanism laplace --epsilon 1 --break float",
  run(args) {
    const progress = new Progress("runs");
    const folder = args.text("dump");
    const dumped: Dumped[] = [];
    const asked = auditOptions(args);
    if (folder !== undefined) makeFolder(folder); // before runs that may take minutes
    const found = runAudit({
      ...asked,
      ...(folder === undefined
        ? {}
        : { dump: (samples) => dumped.push(dumpSamples(folder, dumped.length, samples)) }),
      progress: (done, all) => progress.show(done, done / all),
    });
    progress.clear();
    if (folder !== undefined) writeFileSync(join(folder, "samples.json"), samplesFile(found, args, dumped));
    console.log(args.has("json") ? json(found) : sentence(found, args.text("break")));
  },
};

function auditOptions(args: Arguments): AuditOptions {
  const mechanism = args.choice("mechanism", MECHANISM_NAMES);
  if (mechanism === undefined)
    throw new UsageError(`--mechanism: missing; expected ${MECHANISM_NAMES.join(", ")}`);
  const fault = args.text("break");
  return {
    mechanism,
    epsilon: args.required("epsilon"),
    ...given({ samples: args.number("samples") }),
    break: fault === undefined ? undefined : parseBreak(fault),
    unsafeSeed: args.text("unsafe-seed"),
  };
}

interface Dumped {
  readonly name: string;
  readonly features: readonly string[];
  readonly runs: number;
  readonly files: readonly [string, string];
}

/** Makes the folder of the samples; its parent must be there. */
function makeFolder(folder: string): void {
  try {
    if (!existsSync(folder)) mkdirSync(folder);
    writeFileSync(join(folder, "samples.json"), "");
  } catch (reason) {
    throw new DataError(`--dump: cannot write to ${folder}: ${inWords(reason)}`, { cause: reason });
  }
}

/** Writes both inputs of an attack as little-endian float64, row by row. */
function dumpSamples(folder: string, i: number, { name, features, rows }: AuditSamples): Dumped {
  const files = [`${i}-first.f64`, `${i}-second.f64`] as const;
  for (const [world, file] of files.entries()) {
    const bytes = new DataView(new ArrayBuffer(8 * rows[world]!.length));
    rows[world]!.forEach((value, at) => bytes.setFloat64(8 * at, value, true));
    writeFileSync(join(folder, file), bytes);
  }
  return { name, features, runs: rows[0].length / features.length, files };
}

/** Text of samples.json: the claim, the software, whether the runs were broken or repeatable, and the files. */
const samplesFile = (
  { mechanism, claimed, delta }: Audit,
  args: Arguments,
  attacks: readonly Dumped[],
): string => {
  const [fault, seed] = [args.text("break") ?? null, args.text("unsafe-seed") ?? null];
  const made = { software, break: fault, unsafeSeed: seed };
  const format = "little-endian float64, one row of features per run";
  return `${JSON.stringify({ mechanism, epsilon: claimed, delta, ...made, format, attacks }, null, 2)}\n`;
};

const json = ({ mechanism, claimed, delta, lowerBound, confidence, samples, verdict }: Audit): string =>
  JSON.stringify({ mechanism, claimed, delta, lowerBound, confidence, samples, verdict });

function sentence(found: Audit, fault: string | undefined): string {
  const { mechanism, claimed, delta, lowerBound, confidence, samples, verdict, event } = found;
  const claim = `ε = ${claimed}${delta === 0 ? "" : ` and δ = ${Number(delta.toPrecision(3))}`}`;
  return [
    `${mechanism}${fault === undefined ? "" : `, broken (${fault})`}: claims ${claim}, shown ε ≥ ${lowerBound.toFixed(4)} with confidence ${100 * confidence} %.`,
    verdict === "violation"
      ? "VIOLATION: it is less private than it claims."
      : `Consistent: the attack reaches ${Math.round((100 * lowerBound) / claimed)} % of the claim and not beyond.`,
    `Best event on ${samples} runs per input: ${event}.`,
  ].join("\n");
}
