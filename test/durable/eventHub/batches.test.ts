/** Events between two commits of a hub: what is committed together, again, or never. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { Batches } from "../../../src/durable/eventHub/batches.js";
import type { HubState } from "../../../src/durable/eventHub/hubState.js";
import type { Entry } from "../../../src/durable/eventHub/records.js";
import { StoreError } from "../../../src/durable/stores/store.js";

describe("batches", () => {
  afterEach(() => vi.useRealTimers());
  const entries = (count: number) =>
    Array.from({ length: count }, (): Entry => ({
      metric: "m",
      key: "k",
      tick: 0,
      value: 1,
      hash: new Uint32Array(0),
    }));
  const conflict = () => new StoreError("conflict", "taken");

  /** A state that writes down what it is to commit. */
  function fake(commit: (entries: readonly Entry[]) => void = () => undefined) {
    const seen: (readonly [number, number | undefined])[] = [];
    const metric = { name: "m", closed: 2, held: 4, span: (from: number, to: number) => ({ from, to }) };
    const state = {
      ...{ seen, stale: false, halfway: false, metrics: new Map([["m", metric]]), checkpoints: 0 },
      commit: (all: readonly Entry[], now: number | undefined) => {
        seen.push([all.length, now]);
        commit(all);
        return Promise.resolve(now === undefined ? new Map() : new Map([["m", now]]));
      },
      checkpoint: () => Promise.resolve(void state.checkpoints++),
    };
    return state;
  }
  const open = (state: ReturnType<typeof fake>, every = 0, stored = true) => {
    let opened = 0;
    const batches = new Batches(
      () => (opened++, Promise.resolve(state as unknown as HubState)),
      every,
      stored,
    );
    return { batches, opened: () => opened };
  };

  test("calls that are made together are one commit, up to 65 536 events", async () => {
    const state = fake();
    const { batches, opened } = open(state);
    await Promise.all([batches.add(entries(3)), batches.add(entries(2)), batches.close(9), batches.close(7)]);
    await Promise.all([batches.add(entries(65_535)), batches.add(entries(5)), batches.add(entries(1))]);
    await Promise.all([batches.add(entries(65_536)), batches.add(entries(1))]);
    expect(state.seen).toEqual([
      ...[
        [5, 9],
        [65_540, undefined],
        [1, undefined],
        [65_536, undefined],
        [1, undefined],
      ],
    ]);
    expect([opened(), batches.ready]).toEqual([1, state]);
    await batches.end();
    expect(state.checkpoints).toBe(1);
  });

  test("tell which ticks are published: those after the hold-out", async () => {
    const closed = async (now: number) => await open(fake()).batches.close(now);
    expect(await closed(3)).toEqual([]);
    expect(await closed(4)).toEqual([]);
    expect(await closed(6)).toEqual([{ metric: "m", from: 4, to: 6 }]);
  });

  test("a conflict is tried four times on what the store has now", async () => {
    let left = 3;
    const state = fake(() => {
      if (left-- > 0) throw conflict();
    });
    const { batches, opened } = open(state);
    await batches.add(entries(1));
    expect([state.seen.length, opened(), batches.conflicts]).toEqual([4, 4, 3]);
    left = 4;
    await expect(batches.add(entries(1))).rejects.toMatchObject({ code: "conflict" });
    expect([state.seen.length, batches.conflicts]).toEqual([8, 6]);
    left = 1;
    const other = fake(() => {
      throw new RangeError("no memory");
    });
    const broken = open(other);
    await expect(broken.batches.add(entries(1))).rejects.toThrow("no memory");
    expect([other.seen.length, broken.batches.conflicts, broken.batches.ready]).toEqual([1, 0, undefined]);
  });

  test("without a store, a commit that failed halfway ends the hub, and one that changed nothing does not", async () => {
    const state = fake(() => {
      throw new RangeError("no memory");
    });
    const { batches } = open(state, 0, false);
    await expect(batches.add(entries(1))).rejects.toThrow("no memory");
    await expect(batches.add(entries(1))).rejects.toThrow("no memory");
    state.halfway = true;
    await expect(batches.add(entries(1))).rejects.toThrow("no memory");
    await expect(batches.add(entries(1))).rejects.toThrow(
      "hub: a commit failed halfway, and no store has its state; make another hub",
    );
    expect(batches.ready).toBeUndefined();
  });

  test("opening is tried four times where the store fails for a moment", async () => {
    let calls = 0;
    const failing = (code: "unavailable" | "conflict" | "invalid") =>
      new Batches(() => (calls++, Promise.reject(new StoreError(code, "no"))), 0, true);
    for (const [code, tries, conflicts] of [
      ["unavailable", 4, 0],
      ["conflict", 4, 3],
      ["invalid", 1, 0],
    ] as const) {
      calls = 0;
      const batches = failing(code);
      await expect(batches.state()).rejects.toMatchObject({ code });
      expect([calls, batches.conflicts, batches.ready]).toEqual([tries, conflicts, undefined]);
      await expect(batches.state()).rejects.toMatchObject({ code }); // and again, later
      expect(calls).toBe(2 * tries);
    }
  });

  test("commits begin `every` milliseconds apart, unless a full batch waits", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    const state = fake();
    const { batches } = open(state, 50);
    await batches.add(entries(1));
    const next = batches.add(entries(2));
    await vi.advanceTimersByTimeAsync(49);
    expect(state.seen).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await next;
    expect(state.seen).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
    await vi.advanceTimersByTimeAsync(50);
    const [a, b, c] = [batches.add(entries(1)), batches.add(entries(65_535)), batches.add(entries(3))];
    await Promise.all([a, b]);
    await vi.advanceTimersByTimeAsync(50);
    await c;
    expect(state.seen.slice(2)).toEqual([
      [65_536, undefined],
      [3, undefined],
    ]);
  });
});
