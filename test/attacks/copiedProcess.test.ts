/**
 * The attacker has two copies of one process: a startup snapshot that was started twice. All memory is the same in both. An
 * IV that was drawn before the copy is used by both, under one key, for different states: AES-GCM then gives away the
 * difference of the texts, and the key that authenticates them. What must be impossible: an IV that was in memory before.
 */
import { afterEach, expect, test, vi } from "vitest";
import { openHub, privateStream } from "../../src/index.js";
import { key, options, plainStore } from "../durable/support.js";

afterEach(() => vi.restoreAllMocks());

/** From now on the platform gives bytes that nobody can have drawn before. */
function mark(): number {
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(0xab);
    return array;
  });
  return 0xab;
}

const IV_AT = 5 + 2 + 8 + 16;
const ivOf = (bytes: Uint8Array): number[] => [...bytes.subarray(IV_AT, IV_AT + 12)];

test("the IV of a snapshot is drawn when it is used", async () => {
  const stream = privateStream(options);
  for (let i = 0; i < 10; i++) await stream.snapshot(key); // what was drawn ahead is in memory now
  const drawn = mark();
  expect(ivOf(await stream.snapshot(key))).toEqual(new Array(12).fill(drawn));
});

test("so is that of every snapshot of a hub", async () => {
  const store = plainStore();
  const hub = openHub({ ...options, store, key });
  await hub.push("a", 1);
  const drawn = mark();
  await hub.push("a", 1);
  expect(ivOf(store.snapshots.get("a")!.bytes)).toEqual(new Array(12).fill(drawn));
});

test("and that of every row of a hub of events", async () => {
  const store = plainStore();
  const clock = () => Date.UTC(2026, 2, 1);
  const metrics = { orders: { epsilon: 1, every: "1h", of: "count", keys: ["a"] } } as const;
  const hub = openHub({ metrics, store, key, clock, commitEvery: 0 });
  await hub.add("orders", "a");
  const before = new Map(store.snapshots);
  const drawn = mark();
  await hub.add("orders", "a");
  const written = [...store.snapshots].filter(([name, { bytes }]) => before.get(name)?.bytes !== bytes);
  expect(written.length).toBeGreaterThan(0);
  for (const [, { bytes }] of written) expect(ivOf(bytes)).toEqual(new Array(12).fill(drawn));
});

test("no IV comes twice", async () => {
  const stream = privateStream(options);
  const seen = new Set<string>();
  for (let i = 0; i < 500; i++) seen.add(ivOf(await stream.snapshot(key)).join());
  expect(seen.size).toBe(500);
});
