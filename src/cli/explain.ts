/** brume explain: a stored statement in words. */
import { readFile } from "node:fs/promises";
import { type EventStatement, explainEvents } from "../events/statement.js";
import { type Statement, explainStatement } from "../stream/statement.js";
import { type Command, DataError, UsageError } from "./command.js";
import { inWords } from "./systemErrors.js";
import { SUMMARIES } from "./summaries.js";

export const explain: Command = {
  name: "explain",
  operands: "FILE.json",
  summary: SUMMARIES.explain,
  options: {},
  example: "brume explain statement.json",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError("FILE.json: missing; expected a statement written by brume release --statement");
    const text = await readFile(path, "utf8").catch((reason: unknown) => {
      throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
    });
    process.stdout.write(`${explained(text, path)}\n`);
  },
};

/** A release of values has stages, one of events has scales of noise by what is released. */
function explained(text: string, path: string): string {
  try {
    const statement = JSON.parse(text) as Statement | EventStatement;
    if ("stages" in statement && statement.definition === "event-level differential privacy")
      return explainStatement(statement);
    if ("noiseScales" in statement) return explainEvents(statement);
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected a statement written by brume release --statement`);
}
