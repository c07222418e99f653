/** brume explain: a stored account in words. */
import { readFile } from "node:fs/promises";
import { type Statement, explainStatement } from "../stream/statement.js";
import { type Command, DataError, UsageError } from "./command.js";
import { inWords } from "./systemErrors.js";

export const explain: Command = {
  name: "explain",
  operands: "FILE.json",
  summary: "Says in words what the account of a release promises (written by brume release --account).",
  options: {},
  example: "brume explain account.json",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError("FILE.json: missing; expected an account written by brume release --account");
    const text = await readFile(path, "utf8").catch((reason: unknown) => {
      throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
    });
    process.stdout.write(`${explainStatement(accountOf(text, path))}\n`);
  },
};

function accountOf(text: string, path: string): Statement {
  try {
    const account = JSON.parse(text) as Statement;
    if (account.definition === "event-level differential privacy" && Array.isArray(account.stages))
      return account;
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected an account written by brume release --account`);
}
