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

/** Fields that no statement of a kind lacks, and their types. The kind is the field that others do not have. */
const FIELDS = {
  blockLength: { private: "boolean", stages: "object", levels: "number", min: "number", max: "number" },
  every: { private: "boolean", shares: "object", levels: "object", epsilonPerEvent: "number" },
  rejected: { max: "number", randomness: "string" },
} as const;
const COMMON = { epsilon: "number", delta: "number", neighbours: "string", notProtected: "object" } as const;

function isStatement(stored: unknown): stored is AnyStatement {
  if (typeof stored !== "object" || stored === null) return false;
  const own = stored as Readonly<Record<string, unknown>>;
  const kind = Object.entries(FIELDS).find(([name]) => name in own)?.[1];
  const { name } = (own["software"] ?? {}) as { readonly name?: unknown };
  return (
    name === "brume" &&
    kind !== undefined &&
    Object.entries({ ...COMMON, ...kind }).every(
      ([field, type]) => typeof own[field] === type && own[field] !== null,
    )
  );
}

/** Reads a statement and checks that it is one that this version wrote. */
export async function readStatement(path: string): Promise<AnyStatement> {
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
  });
  try {
    const stored: unknown = JSON.parse(text);
    if (isStatement(stored)) return stored;
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected a statement written by brume release --statement`);
}
