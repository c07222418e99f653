/**
 * brume release --every: events in, private numbers out. The whole file is put into ticks before anything is published,
 * and the clock is public: --from and --to, never the time of an event.
 */
import { EventHub } from "../durable/eventHub/eventHub.js";
import { type Metric, resolveEventHub } from "../durable/eventHub/options.js";
import { fileStore } from "../durable/stores/file.js";
import { type Duration, parseDuration, parseTime } from "../events/duration.js";
import { type Arguments, DataError, UsageError } from "./command.js";
import { answerRows } from "./eventAnswers.js";
import { metricOptions } from "./eventOptions.js";
import { type Columns, type EventRow, eventRows } from "./eventRows.js";
import { EventState, type StoredRelease } from "./eventState.js";
import { openBytes } from "./input.js";
import { inputOf } from "./inputOptions.js";
import { nowhere, openSink, standardOutput } from "./output.js";
import { Progress } from "./progress.js";

/** The only metric of a release; the only key of one without groups. */
export const METRIC = "events";
export const ALL = "all";

/** Rows that wait for a commit. */
const BATCH = 8192;

export async function releaseEvents(args: Arguments): Promise<void> {
  const path = args.operands[0] ?? "-";
  const folder = args.text("state");
  const state =
    folder === undefined ? undefined : await EventState.open(folder, args.text("key") ?? `${folder}.key`);
  const release = state?.release ?? newRelease(args);
  const to = timeOf(args, "to") ?? Date.now();
  const copy = await state?.begin();
  const out = await openSink(args, "out", standardOutput);
  const written = await openSink(args, "statement", nowhere);
  try {
    const hub = await openRelease(release, () => to, copy, state?.key);
    const before = (await hub.stats()).metrics[METRIC]!;
    const every = parseDuration("every", release.options.every);
    const start = release.from + (before.closed > 0 ? before.closed : before.holdout) * every;
    await readInto(hub, args, path, release, to);
    await hub.advance(to);
    const after = (await hub.stats()).metrics[METRIC]!;
    const rows = await answerRows(hub, release, {
      from: start,
      to: release.from + after.closed * every,
      step: parseDuration("report", args.text("report") ?? release.options.every),
      quantiles: args.numbers("quantiles") ?? [0.5, 0.95],
    });
    const statement = await hub.statement(METRIC, release.keys?.[0] ?? ALL);
    const explained = await hub.explain(METRIC, release.keys?.[0] ?? ALL);
    await hub.close();
    if (copy !== undefined) await state!.finish(copy, release); // from here on it is published
    for (const row of rows) await out.write(`${row.join(",")}\n`);
    await written.write(`${JSON.stringify(statement, null, 2)}\n`);
    await written.done();
    await out.done();
    process.stderr.write(`${explained}\n`);
    if (after.closed <= after.holdout)
      process.stderr.write(
        `Nothing is published yet; holding out: ${after.closed} of ${after.holdout} ticks.\n`,
      );
  } catch (reason) {
    await out.discard();
    await written.discard();
    if (copy !== undefined) await state!.discard(copy);
    throw reason;
  }
}

function timeOf(args: Arguments, option: string): number | undefined {
  const text = args.text(option);
  return text === undefined ? undefined : parseTime(option, /^\d+$/.test(text) ? Number(text) : text);
}

function newRelease(args: Arguments): StoredRelease {
  const from = timeOf(args, "from");
  if (from === undefined)
    throw new UsageError(
      "--from: missing; expected when the first tick starts, since the time of the first event is private",
    );
  const [time, group] = [args.text("time"), args.text("group-by")];
  if (time === undefined) throw new UsageError("--time: missing; expected the column with times");
  const keys = args
    .text("keys")
    ?.split(",")
    .map((key) => key.trim());
  if ((group === undefined) !== (keys === undefined))
    throw new UsageError(
      "--keys: expected with --group-by, and all groups in it: a group that appears with its first event tells that there was one",
    );
  const options = metricOptions(args);
  const report = args.text("report");
  const finest = report === undefined ? {} : { finest: report }; // a line has an estimate of its own
  const counts = "of" in options && options.of === "count";
  const [value, person] = [args.text("value"), args.text("person")];
  if (counts === (value !== undefined))
    throw new UsageError(
      counts
        ? "--value: expected none for a count; give --max or --edges as well"
        : "--value: missing; expected the column with values",
    );
  if ((options.perPerson === undefined) !== (person === undefined))
    throw new UsageError("--person: expected together with --per-person");
  return {
    options: { maxRange: longestRange(options.every), ...finest, ...options, skew: 0 },
    keys,
    from,
    columns: { time, value, person, group, unit: args.choice("time-unit", ["ms", "s"]) },
  };
}

/** A month, or 2²⁰ ticks where these are less: longer ranges take more memory and more noise. */
const longestRange = (every: Duration): number => {
  const tick = parseDuration("every", every);
  return Math.min(Math.ceil((30 * 86_400_000) / tick), 2 ** 20) * tick;
};

/** The hub of a release. @param folder where its snapshots are; undefined keeps it in memory */
export async function openRelease(
  release: StoredRelease,
  clock: () => number,
  folder: string | undefined,
  key: Uint8Array | undefined,
): Promise<EventHub> {
  const metric = {
    ...release.options,
    origin: release.from,
    keys: release.keys ?? [ALL],
  } as unknown as Metric;
  const kept = folder === undefined || key === undefined ? {} : { store: fileStore(folder), key };
  const hub = new EventHub(
    resolveEventHub({ metrics: { [METRIC]: metric }, clock, commitEvery: 0, ...kept }),
  );
  await hub.stats().catch((reason: unknown) => {
    // Damaged snapshots and other keys; their messages are about public things.
    if (reason instanceof Error && reason.message.startsWith("snapshot:"))
      throw new DataError(`--state: ${reason.message}`);
    throw reason;
  });
  return hub;
}

async function readInto(
  hub: EventHub,
  args: Arguments,
  path: string,
  release: StoredRelease,
  to: number,
): Promise<void> {
  const [, format, , delimiter] = inputOf(args, path);
  const columns = { ...release.columns, ...given(args) } as unknown as Columns & { unit?: "ms" | "s" };
  const source = openBytes(path);
  const progress = new Progress("events");
  let count = 0;
  let batch: EventRow[] = [];
  const flush = async (): Promise<void> => {
    await hub.addMany(
      METRIC,
      batch.map(({ at, value, person, group }) => ({
        key: group ?? ALL,
        at,
        ...(value === undefined ? {} : { value }),
        ...(person === undefined ? {} : { person }),
      })),
    );
    batch = [];
  };
  try {
    for await (const row of eventRows(source, format, columns, delimiter, columns.unit ?? "ms")) {
      if (row.at < to) batch.push(row); // a later run takes the others
      if (++count % BATCH !== 0) continue;
      await flush();
      progress.show(count, source.size === undefined ? undefined : source.bytesRead() / source.size);
    }
    await flush();
  } finally {
    progress.clear();
  }
}

/** Columns may have other names in another file. */
function given(args: Arguments): Record<string, string> {
  const named = {
    time: args.text("time"),
    value: args.text("value"),
    person: args.text("person"),
    group: args.text("group-by"),
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
