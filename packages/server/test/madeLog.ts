/** A log in memory for tests of imports: three weeks in Berlin around the night in which clocks go forward. */
import { createHash } from "node:crypto";
import type { Config } from "../src/config/types.js";
import type { Log } from "../src/import/importLog.js";
import type { LogEvent } from "../src/import/timeOrder.js";

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Midnight of Monday, 23 March 2026, in Berlin. On the Sunday after it clocks go forward. */
export const MONDAY = Date.UTC(2026, 2, 22, 23);
/** When each of the ten days starts: the seventh has 23 hours. */
export const MIDNIGHTS = Array.from({ length: 11 }, (_, day) => MONDAY + day * DAY - (day > 6 ? HOUR : 0));
export const [FROM, TO] = [MIDNIGHTS[0]!, MIDNIGHTS[10]!];
/** Half past ten in the morning, two days after the log's end. */
export const PRESENT = TO + 2 * DAY + 10.5 * HOUR;

/** So much ε that noise of ½ or more has odds below 10⁻¹². */
export const importConfig = (folder: string, more: Partial<Config> = {}): Config => ({
  epsilon: 30_000,
  zone: "Europe/Berlin",
  key: { env: "UNUSED" },
  store: { sqlite: folder },
  metrics: {
    visits: {
      type: "count",
      epsilon: 1000,
      every: "1h",
      levels: ["1h", "1d"],
      keys: ["a", "b"],
      perPerson: 3,
    },
    spent: {
      type: "sum",
      epsilon: 20_000,
      every: "1d",
      max: 64,
      threshold: 64,
      perPerson: 3,
      lateness: "1h",
    },
    users: { type: "people", epsilon: 500, over: "1w", keys: ["a", "b"], keysPerPerson: 2 },
  },
  log: "silent",
  ...more,
});

export interface Visit {
  readonly at: number;
  readonly key: string;
  readonly person: string;
  readonly spent: number;
}

/** Not in the order of time: neighbours up to an hour apart are swapped. Some people come more often than counts. */
export function visits(count: number): Visit[] {
  const made = Array.from({ length: count }, (_, i): Visit => {
    const at = FROM + Math.floor(((i + 0.5) / count) * (TO - FROM));
    return { at, key: i % 3 === 0 ? "b" : "a", person: `p${(i * 7) % 101}`, spent: i % 5 };
  });
  return made.map((_, i) => made[Math.min(count - 1, i ^ 5)]!);
}

/** Every visit is an event of each metric. */
export function logOf(made: readonly Visit[], more: Partial<Log> = {}): Log {
  return {
    digest: () => Promise.resolve(new Uint8Array(createHash("sha256").update(JSON.stringify(made)).digest())),
    isUnchanged: () => Promise.resolve(true),
    reading: "as it is",
    async *events(metrics) {
      await Promise.resolve();
      for (const { at, key, person, spent } of made)
        for (const [metric, fields] of metrics)
          yield {
            ...{ metric, at, key: fields.key ? key : "" },
            ...{ value: fields.value ? spent : undefined, person: fields.person ? person : undefined },
          } satisfies LogEvent;
    },
    ...more,
  };
}

/** Visits that count in a range of whole days: the first three of each person and day. */
export function counted(made: readonly Visit[], from: number, to: number): Visit[] {
  const seen = new Map<string, number>();
  return [...made]
    .sort((a, b) => a.at - b.at)
    .filter(({ at, person }) => {
      const day = MIDNIGHTS.findLastIndex((start) => start <= at);
      const name = `${day} ${person}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      return seen.get(name)! <= 3 && at >= from && at < to;
    });
}
