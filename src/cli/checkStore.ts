/** Checks a store beside a statement: every snapshot is whole and in its place, and one of them was made as the statement says. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { AnyStatement } from "../adapters/registryRecord.js";
import { budgetKey } from "../durable/budget/budgetKey.js";
import { LIMITS, logStore } from "../durable/stores/file.js";
import { LogFolder } from "../durable/stores/logFolder.js";
import { sqliteStore } from "../durable/stores/sqlite.js";
import { type Store, StoreError } from "../durable/stores/store.js";
import { parseDuration } from "../events/days/duration.js";
import { type EventStatement, SYSTEM } from "../events/statement.js";
import type { Statement } from "../stream/statement.js";
import { type Parameters, snapshotBinding } from "../snapshot/snapshot.js";
import type { Check } from "./checkStatement.js";
import { DataError } from "./command.js";
import { readKey } from "./eventState.js";
import type { NamedStatement } from "./statement.js";

/** @param path a folder of fileStore or of a service, or a file of sqliteStore */
export async function storeChecks(
  path: string,
  keyPath: string,
  statements: readonly NamedStatement[],
): Promise<Check[]> {
  const key = await readKey(keyPath, false);
  const database = databaseIn(path);
  const store =
    database === undefined ? logStore(new ReadFolder(path), LIMITS) : await databaseStore(database);
  const bindingOf = async (bytes: Uint8Array) =>
    (await snapshotBinding(bytes, key)) ?? snapshotBinding(bytes, budgetKey(key));
  const names = await wholeNames(store);
  if (names === undefined) return [{ what: "the logs of the store are as they were written", holds: false }];
  let wrong = 0;
  const made: Parameters[] = [];
  for (const name of names) {
    const found = await store.get(name);
    const bound = found && (await bindingOf(found.bytes));
    // A snapshot under another name, or of another number, was put there by hand.
    if (bound === undefined || bound.sequence !== found!.sequence || bound.parameters["name"] !== name)
      wrong++;
    else made.push(bound.parameters);
  }
  return [
    {
      what: `${names.length} snapshots of the store open with the key, unaltered and in their places`,
      holds: wrong === 0 && names.length > 0,
    },
    ...statements.map(({ metric, statement }) => {
      const stated = made.filter((parameters) => isMadeAs(parameters, statement)).length;
      return {
        what: `${metric === undefined ? "" : `${metric}: `}${stated} of them were made with the options of the statement`,
        holds: stated > 0,
      };
    }),
  ];
}

/** The names of all snapshots; undefined if a log was damaged after it was written. */
const wholeNames = (store: Store): Promise<readonly string[] | undefined> =>
  store.names!().catch((reason: unknown) => {
    if (reason instanceof StoreError && reason.code === "invalid") return undefined;
    throw reason;
  });

/** The database of a service in its folder. */
const SERVICE_FILE = "state.sqlite";

/** The file of sqliteStore or of a service; undefined for a folder of logs. */
const databaseIn = (path: string): string | undefined =>
  [path, join(path, SERVICE_FILE)].find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());

const databaseStore = (file: string): Promise<Store> =>
  sqliteStore(file).catch((reason: unknown) => {
    throw new DataError(`--store: ${reason instanceof Error ? reason.message : "cannot open it"}`);
  });

/** A folder of logs that is only read: a store would take over one whose newest log was begun and not continued. */
class ReadFolder extends LogFolder {
  override create(): Promise<boolean> {
    return Promise.reject(
      new DataError(
        "--store: expected a log that begins with a whole write, got one that is damaged or just begun; nothing was changed",
      ),
    );
  }

  override async flush(): Promise<void> {
    // Nothing is written, and the folder may be one that nobody can write to.
  }
}

/** Whether a snapshot is bound to the options that a statement names. Other options follow from them or are not stated. */
function isMadeAs(bound: Parameters, statement: AnyStatement): boolean {
  const stated = "every" in statement ? eventOptions(statement) : otherOptions(statement);
  const seed = bound["seed"] ?? bound["unsafeSeed"] ?? "undefined";
  return (
    Object.entries(stated).every(
      ([name, value]) => bound[name] === (value === undefined ? undefined : String(value)),
    ) &&
    (!("private" in statement) || statement.private === (seed === "undefined")) &&
    (!("private" in statement) || isThetaOf(bound["threshold"], statement)) &&
    (!("every" in statement) || isFoundAs(bound["discovery"], statement))
  );
}

/** Whether a statement has the θ that a snapshot is bound to, or one that was chosen. It is stated in whole steps of the grid. */
function isThetaOf(bound: string | undefined, statement: Statement | EventStatement): boolean {
  if (bound === undefined) return statement.max === null;
  const isChosen =
    "every" in statement
      ? statement.shares.clipped > 0
      : statement.stages.some(({ stage, values: [from] }) => stage === "threshold" && from === 0);
  const given = Number(bound);
  if (Number.isNaN(given)) return isChosen;
  return statement.threshold !== null && Math.abs(given - statement.threshold) < statement.resolution!;
}

/** Whether votes find keys with the share of ε that a snapshot is bound to. */
const isFoundAs = (bound: string | undefined, { discovery, shares }: EventStatement): boolean =>
  bound === undefined ? discovery === null : bound.startsWith(`${shares.discovery}/32 `);

type Options = Readonly<Record<string, string | number | undefined>>;

/** Options of a metric, as `eventParameters` writes them. */
function eventOptions(statement: EventStatement): Options {
  const { epsilon, levels, zone, lateness, people, perPerson, min, max, resolution, system } = statement;
  const { shares } = statement;
  const limit = perPerson === null ? undefined : [perPerson.events, perPerson.perHour, perPerson.sum];
  return {
    epsilon,
    zone,
    lateness: parseDuration("lateness", lateness, 0),
    min: min === 0 || min === null ? undefined : min,
    max: max ?? undefined,
    resolution: resolution ?? undefined,
    ...(people === null
      ? {
          of: Object.entries(SYSTEM).find(([, words]) => words === system)?.[0],
          levels: levels.join(" "),
          // A limit that was chosen is in the state, not in the options.
          ...(perPerson?.most === undefined
            ? { perPerson: limit?.map((n) => n ?? "-").join(" ") ?? "none" }
            : {}),
        }
      : {
          of: "count",
          people: `${people.over} ${shares.limited > 0 ? people.keysPerPerson : "-"}`,
        }),
  };
}

/** Options of a stream of values, or of an aggregation of reports: the two phases of the paper have an ε each. */
function otherOptions(statement: Exclude<AnyStatement, EventStatement>): Options {
  const { epsilon, max } = statement;
  if (!("blockLength" in statement))
    return "zone" in statement ? { epsilon, max, zone: statement.zone } : { max };
  const { min, resolution, fanout, maxRange } = statement;
  const variant = statement.system === "ToPS" ? "default" : "paper";
  return { epsilon, max, resolution, fanout, maxRange, variant, min: min === 0 ? undefined : min };
}
