/** brume explain: a stored statement in words. */
import { readFile } from "node:fs/promises";
import { type EventStatement, explainEvents } from "../events/statement.js";
import { type Statement, explainStatement } from "../stream/statement.js";
import { type Command, DataError, UsageError } from "./command.js";
import { demoStream } from "./demoCentral.js";
import { demoServer } from "./demoLocal.js";
import { exampleStream } from "./example.js";
import { inWords } from "./systemErrors.js";
import { SUMMARIES } from "./summaries.js";

export const explain: Command = {
  name: "explain",
  operands: "FILE.json",
  summary: SUMMARIES.explain,
  options: { demo: { help: "of the releases of brume demo, in place of a file" } },
  example: "brume explain statement.json",
  async run(args) {
    const path = args.operands[0];
    if (args.has("demo")) {
      if (path !== undefined) throw new UsageError("expected --demo or FILE.json, got both");
      const values = exampleStream("brume");
      const server = await demoServer(values, 1);
      process.stdout.write(`${demoStream(values, 0.1).explain()}\n\n${server.explain()}\n`);
      return;
    }
    if (path === undefined)
      throw new UsageError("FILE.json: missing; expected a statement written by brume release --statement");
    const text = await readFile(path, "utf8").catch((reason: unknown) => {
      throw new DataError(`${path}: ${inWords(reason)}`, { cause: reason });
    });
    process.stdout.write(`${explained(text, path)}\n`);
  },
};

/** A release of values has stages, one of events has standard errors by level. */
function explained(text: string, path: string): string {
  try {
    const statement = JSON.parse(text) as Statement | EventStatement;
    if ("stages" in statement && statement.definition === "event-level differential privacy")
      return explainStatement(statement);
    if ("standardErrors" in statement) return explainEvents(statement);
  } catch {
    // not JSON: the message below says what was wanted
  }
  throw new DataError(`${path}: expected a statement written by brume release --statement`);
}
