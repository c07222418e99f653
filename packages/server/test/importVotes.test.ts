/** Keys that the people of a log make public: the same ones, and the same numbers, however often the import dies. */
import { join } from "node:path";
import type { Store } from "brume";
import { sqliteStore } from "brume/node";
import Database from "libsql";
import { expect, test } from "vitest";
import type { Config } from "../src/config/types.js";
import { importLog } from "../src/import/importLog.js";
import { Service } from "../src/service.js";
import { FROM, importConfig, logOf, MIDNIGHTS, PRESENT, TO, type Visit } from "./madeLog.js";
import { atEnd, KEY, temporaryFolder, TestClock } from "./support.js";

function presentClock(): TestClock {
  const clock = new TestClock();
  clock.pass(PRESENT - clock.wall());
  return clock;
}

const configOf = (folder: string): Config =>
  importConfig(folder, {
    delta: 1e-3,
    metrics: {
      views: {
        type: "count",
        ...{ epsilon: 1000, every: "1h", levels: ["1h", "1d"], perPerson: 3, lateness: "1h" },
        keys: { listed: ["/"], discover: { delta: 1e-3 } },
      },
    },
  });

/** Visits: each day nine people see a new page, three the listed one, three a page of their own, and one comes too often. */
const VISITS = MIDNIGHTS.slice(0, -1).flatMap((start, day): Visit[] => {
  const last = MIDNIGHTS[day + 1]! - 1 - start;
  const visit = (at: number, key: string, person: string): Visit => ({
    at: start + at,
    key,
    person,
    spent: 0,
  });
  return [
    ...Array.from({ length: 12 }, (_, i) =>
      visit(Math.floor((i * last) / 11), i % 4 === 0 ? "/" : "/new", `p${i}`),
    ),
    ...[0, 1, 2].map((i) => visit(i, `/only/${day}/${i}`, `q${i}`)),
    ...[0, 1, 2, 3, 4].map((i) => visit(1000 + i, "/", "often")),
  ];
});
const OUTSIDE = [FROM - 1, TO].map((at): Visit => ({ at, key: "/new", person: "x", spent: 0 }));

/** Imports with a store that dies after so many writes, and then to the end. */
async function imported(writes: number): Promise<{ readonly days: unknown; readonly written: number }> {
  const folder = temporaryFolder();
  const database = new Database(join(folder, "state.sqlite"));
  atEnd(() => database.close());
  const inner = await sqliteStore(database);
  let written = 0;
  const alive = (): Promise<void> =>
    ++written <= writes
      ? Promise.resolve()
      : Promise.reject(Object.assign(new Error("dead"), { code: "EIO" }));
  const dying: Store = {
    ...inner,
    put: (...snapshot) => alive().then(() => inner.put(...snapshot)),
    putMany: (snapshots) => alive().then(() => inner.putMany!(snapshots)),
  };
  const log = logOf([...VISITS, ...OUTSIDE]);
  for (const store of [dying, inner])
    await importLog(configOf(folder), log, {
      ...{ key: KEY, clock: presentClock(), from: FROM, to: TO, store },
    }).catch((error: unknown) =>
      expect((error as Error).message).toMatch(/run the same command again|store|in the state already/),
    );
  const options = { key: KEY, clock: presentClock(), store: inner };
  const service = await Service.open(configOf(folder), options);
  atEnd(() => service.stop());
  const days = await Promise.all(
    ["/", "/new", "(other)"].map(async (key) => {
      const asked = { from: FROM, to: TO, every: "1d" };
      const { answers } = (await service.ask("views", key, asked, {})) as unknown as {
        answers: { value: number | null }[];
      };
      return answers.map(({ value }) => (value === null ? null : Math.round(value)));
    }),
  );
  return { days, written };
}

const TRUTH = [
  Array<number>(10).fill(6),
  [null, null, ...Array<number>(8).fill(9)],
  [12, 12, ...Array<number>(8).fill(3)],
];

test("a page of many people is found, and an event counts under it or among the others, through every death", async () => {
  const { days, written } = await imported(Infinity);
  expect(days).toEqual(TRUTH);
  for (const part of [0.02, 0.15, 0.3, 0.5, 0.7, 0.9, 0.98])
    expect((await imported(Math.floor(part * written))).days).toEqual(TRUTH);
}, 60_000);
