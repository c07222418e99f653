/** brume explain: a stored statement in words. */
import { readFile } from "node:fs/promises";
import { type Statement, explainStatement } from "../stream/statement.js";
import { type Command, DataError, UsageError } from "./command.js";
import { inWords } from "./systemErrors.js";

export const explain: Command = {
  name: "explain",
  operands: "FILE.json",
  summary: "Says in words what the statement of a release promises (written by brume release --statement).",
  options: {},
  example: "brume explain statement.json",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError("FILE.json: missing; expected a statement written by brume release --statement");
    const text = await readFile(path, "utf8").catch((reason: unknown) => {
      throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
    });
    process.stdout.write(`${explainStatement(statementOf(text, path))}\n`);
  },
};

function statementOf(text: string, path: string): Statement {
  try {
    const statement = JSON.parse(text) as Statement;
    if (statement.definition === "event-level differential privacy" && Array.isArray(statement.stages))
      return statement;
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected a statement written by brume release --statement`);
}
