/** brume audit: attacks a mechanism and says how much of its ε the attack has shown. */
import { type Audit, audit as runAudit, type AuditOptions, MECHANISM_NAMES } from "../audit/audit.js";
import { parseBreak } from "../audit/breaks.js";
import { given } from "../../src/core/given.js";
import { type Arguments, type Command, UsageError } from "../../src/cli/command.js";
import { Progress } from "../../src/cli/progress.js";
import { SUMMARIES } from "../../src/cli/summaries.js";

export const audit: Command = {
  name: "audit",
  operands: "",
  summary: `${SUMMARIES.audit}\nMechanisms: ${MECHANISM_NAMES.join(", ")}.`,
  options: {
    mechanism: { value: "M", help: "what to attack (required)" },
    epsilon: { value: "E", help: "the ε it claims (required)" },
    samples: { value: "N", help: "runs on each of two inputs (what takes seconds)" },
    break: {
      value: "B",
      help: "spoil it first, to see it caught: scale=0.8, tree-scale=0.5, choice-scale=0.5, float or skip-node",
    },
    "unsafe-seed": { value: "S", help: "the same runs every time" },
    json: { help: "one JSON object instead of a sentence" },
  },
  example: "brume audit --mechanism laplace --epsilon 1 --break float",
  run(args) {
    const progress = new Progress("runs");
    const found = runAudit({
      ...auditOptions(args),
      progress: (done, all) => progress.show(done, done / all),
    });
    progress.clear();
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

const json = ({ mechanism, claimed, lowerBound, confidence, samples, verdict }: Audit): string =>
  JSON.stringify({ mechanism, claimed, lowerBound, confidence, samples, verdict });

function sentence(found: Audit, fault: string | undefined): string {
  const { mechanism, claimed, lowerBound, confidence, samples, verdict, event } = found;
  return [
    `${mechanism}${fault === undefined ? "" : `, broken (${fault})`}: claims ε = ${claimed}, shown ε ≥ ${lowerBound.toFixed(4)} with confidence ${100 * confidence} %.`,
    verdict === "violation"
      ? "VIOLATION: it is less private than it claims."
      : `Consistent: the attack reaches ${Math.round((100 * lowerBound) / claimed)} % of the claim and not beyond.`,
    `Best event on ${samples} runs per input: ${event}.`,
  ].join("\n");
}
