/** brume verify: checks a statement, and the release, the state or the store that belongs to it. */
import type { AnyStatement } from "../adapters/registryRecord.js";
import { eventStatement } from "../events/statement.js";
import { type Check, checkStatement } from "./checkStatement.js";
import { releaseChecks } from "./checkRelease.js";
import { storeChecks } from "./checkStore.js";
import { type Arguments, type Command, DataError, UsageError } from "./command.js";
import { EventFile } from "./eventFile.js";
import { EventState } from "./eventState.js";
import { type NamedStatement, readStatements } from "./statement.js";
import { SUMMARIES } from "./summaries.js";

export const verify: Command = {
  name: "verify",
  operands: "STATEMENT.json",
  summary: SUMMARIES.verify,
  options: {
    release: {
      value: "FILE",
      help: "the published numbers: as many as stated, of whole periods, as in the state",
    },
    state: { value: "DIR", help: "the folder of brume release --state: opens, and says the same" },
    store: {
      value: "DIR",
      help: "a folder of fileStore or of a service, or a file of sqliteStore: all of it opens, and was made as stated",
    },
    key: { value: "FILE", help: "the key of the state or the store (DIR.key)" },
    json: { help: "one JSON object instead of lines" },
  },
  example: "brume verify statement.json --state shop --release published.csv",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError(
        "STATEMENT.json: missing; expected a statement written by brume release --statement",
      );
    const statements = await readStatements(path);
    const checks = [
      ...statements.flatMap(({ metric, statement }) =>
        checkStatement(statement).map((check) => named(metric, check)),
      ),
      ...(await checksBeside(args, statements)),
    ];
    const failed = checks.filter(({ holds }) => !holds).length;
    const notSeen = unseen(["release", "state", "store"].filter((name) => args.text(name) !== undefined));
    if (args.has("json")) console.log(JSON.stringify({ verified: failed === 0, checks, notSeen }));
    else {
      for (const { what, holds } of checks) console.log(`${holds ? "✓" : "✗"} ${what}`);
      for (const what of notSeen) console.log(`? not seen from files: ${what}`);
    }
    if (failed > 0) throw new DataError(`${failed} of ${checks.length} checks failed`);
  },
};

/** Claims that no file proves, for the reader to ask about. */
const unseen = (given: readonly string[]): readonly string[] => [
  "whether the version and the commit that the statement names made the numbers",
  ...(given.includes("release")
    ? ["whether the release is all of it: a statement names no end, and whole periods may lack at either end"]
    : []),
  ...(given.includes("release") && !given.includes("state")
    ? ["whether a number is the one that was published, if it lies in its interval: --state compares them"]
    : []),
  ...(given.includes("state") || given.includes("store")
    ? [
        "whether the state or the store is the newest: an older one that was put back as a whole looks the same",
      ]
    : []),
];

const named = (metric: string | undefined, { what, holds }: Check): Check => ({
  what: metric === undefined ? what : `${metric}: ${what}`,
  holds,
});

async function checksBeside(args: Arguments, statements: readonly NamedStatement[]): Promise<Check[]> {
  const [release, folder, store] = [args.text("release"), args.text("state"), args.text("store")];
  const key = args.text("key");
  // Reports of a service are in sections of its hub, which bind no options.
  const stored = statements.filter(({ metric, statement }) => metric === undefined || "every" in statement);
  const found = store === undefined ? [] : await storeChecks(store, key ?? `${store}.key`, stored);
  if (release === undefined && folder === undefined) return found;
  const [first] = statements;
  if (first === undefined || first.metric !== undefined)
    throw new UsageError(
      "--release, --state: expected the statement of a release, got one of a service; check its --store",
    );
  const { statement } = first;
  const file = folder === undefined ? undefined : await openState(folder, key ?? `${folder}.key`);
  return [
    ...(file === undefined ? [] : [stateCheck(file, statement)]),
    ...(release === undefined ? [] : await releaseChecks(release, statement, file)),
    ...found,
  ];
}

async function openState(folder: string, keyPath: string): Promise<EventFile> {
  const state = await EventState.open(folder, keyPath, true);
  const stored = state.release!;
  const snapshot = (await state.snapshot())!;
  try {
    EventFile.begin(stored, stored.from);
  } catch {
    throw new DataError(
      `--state: expected ${folder}/release.json as brume release wrote it, got other options`,
    );
  }
  return EventFile.resume(snapshot, state.key, stored, stored.from);
}

/** Fields of a statement that depend on the moment or on the machine. */
const OF_THE_MOMENT = ["software", "core", "firstNumber"] as const;

function stateCheck(file: EventFile, statement: AnyStatement): Check {
  const lasting = (one: object) =>
    JSON.stringify(
      Object.entries(one)
        .filter(([name]) => !OF_THE_MOMENT.includes(name as "core"))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return {
    what: "the state opens, and says the same of itself",
    holds: lasting(eventStatement(file.metric)) === lasting(statement),
  };
}
