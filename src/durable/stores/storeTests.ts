/**
 * Conformance tests of a store, for any test runner:
 *
 *     import { storeTests } from "brume/store-tests";
 *     for (const { name, run } of storeTests) test(name, () => run(async () => ({ store: … , again: … })));
 */
import type { Store, StoredSnapshot } from "./store.js";

export interface StoreUnderTest {
  /** Empty. */
  readonly store: Store;
  /** Another store object on the same data, as another process would have it. Needed for durable stores. */
  readonly again?: () => Promise<Store>;
}

export interface StoreTest {
  readonly name: string;
  readonly run: (make: () => Promise<StoreUnderTest>) => Promise<void>;
}

export const storeTests: readonly StoreTest[] = Object.entries({
  "returns the newest snapshot of the right stream": async ({ store }) => {
    equal(await store.get("a"), undefined);
    await store.giveBack?.("a");
    await store.put("a", 1, Uint8Array.of(1));
    await store.put("A", 1, Uint8Array.of(7, 7)); // names differ in case alone
    await store.put("", 1, Uint8Array.of(8));
    await store.put("a", 2, Uint8Array.of(2, 2));
    equal(shown(await store.get("a")), "2: 2 2");
    equal(shown(await store.get("A")), "1: 7 7");
    equal(shown(await store.get("")), "1: 8");
    equal(await store.get("../a/é'\"%_\\"), undefined);
  },

  "keeps names of every kind apart": async ({ store }) => {
    const names = [
      "../a",
      "a/b",
      "a b",
      "é",
      "e\u0301",
      "'; --",
      "%",
      "_",
      "\\",
      "*",
      "🙂",
      "x".repeat(1000),
    ];
    for (const [i, name] of names.entries()) await store.put(name, 1, Uint8Array.of(i));
    for (const [i, name] of names.entries()) equal(shown(await store.get(name)), `1: ${i}`);
  },

  "refuses a snapshot that does not follow the newest one, and keeps what it has": async ({ store }) => {
    await conflicts(store.put("a", 2, Uint8Array.of(9)));
    for (let i = 1; i <= 5; i++) await store.put("a", i, Uint8Array.of(i));
    for (const sequence of [1, 2, 4, 5, 7]) await conflicts(store.put("a", sequence, Uint8Array.of(9)));
    equal(shown(await store.get("a")), "5: 5");
  },

  "a snapshot that is stored already is no conflict: the answer to an earlier put was lost": async ({
    store,
  }) => {
    for (let i = 1; i <= 2; i++) await store.put("a", i, Uint8Array.of(i, 7));
    await store.put("a", 2, Uint8Array.of(2, 7));
    equal(shown(await store.get("a")), "2: 2 7");
    await store.giveBack?.("a");
    await conflicts(store.put("a", 1, Uint8Array.of(1, 7))); // no longer the newest
    for (const other of [Uint8Array.of(2, 8), Uint8Array.of(2), Uint8Array.of(2, 7, 0), new Uint8Array(0)])
      await conflicts(store.put("a", 2, other));
    if (!store.putMany) return;
    const again = [
      { name: "a", sequence: 2, bytes: Uint8Array.of(2, 7) },
      { name: "b", sequence: 1, bytes: Uint8Array.of(1) },
    ];
    equal((await store.putMany(again)).join(), "true,true");
    equal((await store.putMany(again)).join(), "true,true");
    equal(
      (await store.putMany(again.map((one) => ({ ...one, bytes: Uint8Array.of(9) })))).join(),
      "false,false",
    );
  },

  "if many continue one snapshot at the same time, one succeeds": async ({ store, again }) => {
    const other = store.durable && again ? await again() : store;
    for (let sequence = 1; sequence <= 4; sequence++) {
      const tries = Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? other : store).put("a", sequence, Uint8Array.of(i)).then(
          () => 1,
          () => 0,
        ),
      );
      equal(
        (await Promise.all(tries)).reduce<number>((sum, one) => sum + one, 0),
        1,
      );
    }
  },

  "stores bytes of any length, and copies of its own": async ({ store }) => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7919) >> 3);
    const own = bytes.slice();
    await store.put("a", 1, own);
    own.fill(0);
    const found = (await store.get("a"))!;
    equal(found.bytes.length, bytes.length);
    equal(
      found.bytes.every((byte, i) => byte === bytes[i]),
      true,
    );
  },

  "putMany stores those that follow and names those that do not": async ({ store }) => {
    if (!store.putMany) return;
    await store.put("a", 1, Uint8Array.of(1));
    const stored = await store.putMany([
      { name: "a", sequence: 2, bytes: Uint8Array.of(2) },
      { name: "b", sequence: 2, bytes: Uint8Array.of(9) },
      { name: "c", sequence: 1, bytes: Uint8Array.of(3) },
    ]);
    equal(stored.join(), "true,false,true");
    equal(shown(await store.get("a")), "2: 2");
    equal(await store.get("b"), undefined);
    equal(shown(await store.get("c")), "1: 3");
    equal((await store.putMany([])).length, 0);
  },

  "putMany from two sides at once: each snapshot is stored once": async ({ store, again }) => {
    if (!store.putMany || !again) return;
    const other = await again();
    const snapshots = (mark: number, sequence: number) =>
      Array.from({ length: 20 }, (_, i) => ({
        name: `s${i}`,
        sequence,
        bytes: Uint8Array.of(mark, sequence),
      }));
    for (let sequence = 1; sequence <= 3; sequence++) {
      const [one, two] = await Promise.all([
        store.putMany(snapshots(1, sequence)),
        other.putMany!(snapshots(2, sequence).reverse()),
      ]);
      for (let i = 0; i < 20; i++) {
        equal(Number(one[i]) + Number(two[19 - i]), 1);
        equal(shown(await store.get(`s${i}`)), `${sequence}: ${one[i] ? 1 : 2} ${sequence}`);
      }
    }
  },

  "names lists the streams that have a snapshot": async ({ store }) => {
    if (!store.names) return;
    equal((await store.names()).length, 0);
    for (const name of ["b", "a", "é/"]) await store.put(name, 1, Uint8Array.of(1));
    equal([...(await store.names())].sort().join(), "a,b,é/");
  },

  "getMany gives what get gives, as of one moment": async ({ store, again }) => {
    if (!store.getMany || !store.putMany) return;
    const names = Array.from({ length: 70 }, (_, i) => `é${i}`);
    const put = (i: number) =>
      store.putMany!(
        names.slice(1).map((name) => ({ name, sequence: i, bytes: new Uint8Array(100).fill(i) })),
      );
    await put(1);
    equal((await store.getMany([])).length, 0);
    const reader = (await again?.()) ?? store;
    const writing = (async () => {
      for (let i = 2; i <= 20; i++) await put(i);
    })();
    for (let last = 1; last < 20;) {
      const [none, first, ...others] = await reader.getMany!(names);
      equal(none, undefined);
      for (const other of others) equal(shown(other), shown(first)); // one transaction stored them
      last = first!.sequence;
    }
    await writing;
  },

  "remove removes the newest snapshot alone, and the stream can begin again": async ({ store }) => {
    if (!store.remove) return;
    await store.put("a", 1, Uint8Array.of(1));
    await store.put("a", 2, Uint8Array.of(2));
    await store.put("b", 1, Uint8Array.of(3));
    await conflicts(store.remove("a", 1));
    await conflicts(store.remove("c", 1));
    await store.remove("a", 2);
    equal(await store.get("a"), undefined);
    await store.giveBack?.("a");
    await conflicts(store.put("a", 3, Uint8Array.of(9)));
    await store.put("a", 1, Uint8Array.of(4));
    equal(shown(await store.get("a")), "1: 4");
    equal(shown(await store.get("b")), "1: 3");
  },

  "another process sees what was stored, and reading harms no writer": async ({ store, again }) => {
    if (!store.durable) return;
    if (!again) throw new Error("store tests: expected again() for a durable store, got none");
    const reader = await again();
    let last = 0;
    let writing = true;
    const read = async () => {
      while (writing) {
        const found = await reader.get("a");
        if (found === undefined) continue;
        equal(found.sequence >= last, true);
        equal(
          found.bytes.every((byte) => byte === found.sequence % 256),
          true,
        );
        last = found.sequence;
      }
    };
    const reading = read();
    try {
      for (let i = 1; i <= 50; i++) await store.put("a", i, new Uint8Array(1000).fill(i));
    } finally {
      writing = false;
    }
    await reading;
    equal((await reader.get("a"))?.sequence, 50);
    await reader.put("a", 51, Uint8Array.of(51));
    await conflicts(store.put("a", 51, Uint8Array.of(0)));
    await store.put("a", 52, Uint8Array.of(52));
    equal(shown(await (await again()).get("a")), "52: 52");
  },

  "a store that is not durable gives a stream to one caller at a time": async ({ store }) => {
    if (store.durable) return;
    equal(await store.get("a"), undefined);
    await rejects(store.get("a"), "in-use");
    await store.giveBack!("a");
    equal(await store.get("a"), undefined);
    await store.put("a", 1, Uint8Array.of(1)); // which ends it as well
    equal(shown(await store.get("a")), "1: 1");
    await rejects(store.get("a"), "in-use");
    await store.giveBack!("a");
    equal(shown(await store.get("a")), "1: 1");
  },
} satisfies Record<string, (made: StoreUnderTest) => Promise<void>>).map(([name, test]) => ({
  name,
  run: async (make) => test(await make()),
}));

const shown = (found: StoredSnapshot | undefined): string | undefined =>
  found && `${found.sequence}: ${[...found.bytes].join(" ")}`;

function equal(got: unknown, expected: unknown): void {
  if (!Object.is(got, expected))
    throw new Error(`store tests: expected ${String(expected)}, got ${String(got)}`);
}

const conflicts = (call: Promise<unknown>): Promise<void> => rejects(call, "conflict");

async function rejects(call: Promise<unknown>, code: string): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if ((error as { code?: unknown } | undefined)?.code !== code)
    throw new Error(
      `store tests: expected a rejection with code "${code}", got ${error === undefined ? "success" : "another one"}`,
    );
}
