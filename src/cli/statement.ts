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
    const [first, ...others] = await readStatements(path);
    if (first === undefined || others.length > 0 || first.metric !== undefined)
      throw new DataError(
        `${path}: expected the statement of a release, got one of a service; /v1/statement?format=registry gives its record`,
      );
    console.log(JSON.stringify(recordOfStatement(first.statement), null, 2));
  },
};

/** Fields that no statement of a kind lacks, and their types. The kind is the field that others do not have. */
const FIELDS = {
  blockLength: { private: "boolean", stages: "object", levels: "number", min: "number", max: "number" },
  every: { private: "boolean", shares: "object", levels: "object" },
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

/** A statement, and the metric of a service that it is about. */
export interface NamedStatement {
  readonly metric?: string;
  readonly statement: AnyStatement;
}

/** Statements of the metrics of a service, if what is stored is what /v1/statement says. */
function serviceStatements(stored: unknown): readonly NamedStatement[] | undefined {
  const { system, metrics } = Object(stored) as { readonly system?: unknown; readonly metrics?: unknown };
  if (system !== "Brume service" || !Array.isArray(metrics)) return undefined;
  const named = (metrics as Readonly<Record<string, unknown>>[]).map(({ name, stream, devices }) => ({
    metric: String(name),
    statement: stream ?? devices,
  }));
  return named.every((one): one is Required<NamedStatement> => isStatement(one.statement))
    ? named
    : undefined;
}

/** Reads a statement, or those of a service, and checks that this version wrote them. */
export async function readStatements(path: string): Promise<readonly NamedStatement[]> {
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
  });
  try {
    const stored: unknown = JSON.parse(text);
    if (isStatement(stored)) return [{ statement: stored }];
    const found = serviceStatements(stored);
    if (found !== undefined) return found;
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(
    `${path}: expected a statement written by brume release --statement, or one of a service (/v1/statement)`,
  );
}
