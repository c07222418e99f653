/** brume statement: a stored statement as a record for the public registry of deployments. */
import { readFile } from "node:fs/promises";
import { type AnyStatement, recordOfStatement } from "../adapters/registryRecord.js";
import { type Command, DataError, UsageError } from "./command.js";
import { SUMMARIES } from "./summaries.js";
import { inWords } from "./systemErrors.js";

export const statement: Command = {
  name: "statement",
  operands: "FILE.json",
  summary: SUMMARIES.statement,
  options: {
    registry: {
      help: "a record for opendp/deployments-registry-data; TO ADD marks what you have to fill in",
    },
  },
  example: "brume statement statement.json --registry > deployment.yaml",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError("FILE.json: missing; expected a statement written by brume release --statement");
    if (!args.has("registry"))
      throw new UsageError("--registry: missing; brume explain says in words what a statement promises");
    const stored = await readStatement(path);
    console.log(JSON.stringify(recordOfStatement(stored), null, 2));
  },
};

/** Reads a statement and checks that it is one that this version wrote. */
export async function readStatement(path: string): Promise<AnyStatement> {
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
  });
  try {
    const stored = JSON.parse(text) as Partial<AnyStatement> | null;
    if (typeof stored === "object" && stored?.software?.name === "brume" && "epsilon" in stored)
      return stored as AnyStatement;
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected a statement written by brume release --statement`);
}
