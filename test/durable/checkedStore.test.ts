/** Every answer and every failure of a caller's store, and what a commit makes of them. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Store } from "../../src/index.js";
import { StoreError } from "../../src/durable/stores/store.js";
import { CheckedStore } from "../../src/durable/checkedStore.js";
import { Committer } from "../../src/durable/journal/committer.js";

const bytesOf = (...numbers: number[]) => Uint8Array.from(numbers);

describe("a store of the caller's", () => {
  /** A store whose calls are written down, with answers of the test. */
  const watched = (answers: Partial<Record<keyof Store, (...args: never[]) => unknown>>, durable = true) => {
    const calls: string[] = [];
    const store: Record<string, unknown> = { durable };
    for (const [name, answer] of Object.entries({ get: () => undefined, put: () => undefined, ...answers }))
      store[name] = async (...args: unknown[]) => {
        calls.push(`${name} ${args.map(String).join(" ")}`);
        return await (answer as (...all: unknown[]) => unknown)(...args);
      };
    return { calls, store: new CheckedStore(store as unknown as Store) };
  };
  const fails = (code?: string) => () => {
    throw Object.assign(new Error("why"), { code });
  };

  test("is asked again three times where it fails for a moment, and once where it refuses", async () => {
    const down = watched({ get: fails() });
    await expect(down.store.getAgain("s")).rejects.toMatchObject({
      ...{ code: "unavailable", message: 'store: get of stream "s" failed; try again' },
    });
    expect(down.calls).toEqual(["get s", "get s", "get s"]);
    const taken = watched({ get: fails("in-use") });
    await expect(taken.store.getAgain("s")).rejects.toMatchObject({
      ...{ code: "in-use", message: 'store: get of stream "s" was refused (in-use); open it again' },
    });
    expect(taken.calls).toEqual(["get s"]);
    let left = 2;
    const shaky = watched({ get: () => (left-- > 0 ? fails()() : { sequence: 4, bytes: bytesOf(1) }) });
    expect(await shaky.store.getAgain("s")).toEqual({ sequence: 4, bytes: bytesOf(1) });
  });

  test("that was rolled back is refused, and given back", async () => {
    const { store, calls } = watched({
      get: () => ({ sequence: 4, bytes: bytesOf(1) }),
      giveBack: () => undefined,
    });
    expect((await store.get("s", 4))!.sequence).toBe(4);
    await expect(store.get("s", 5)).rejects.toMatchObject({
      code: "rolled-back",
      message:
        'store: expected snapshot 5 or a later one of stream "s", got 4; the store was rolled back, and continuing it would publish positions again',
    });
    expect(calls).toEqual(["get s", "get s", "giveBack s"]);
    await expect(watched({}).store.get("s", 1)).rejects.toThrow('of stream "s", got none;');
    expect(await watched({}).store.get("s")).toBeUndefined();
    await watched({ giveBack: fails() }).store.giveBack("s"); // must not hide another failure
  });

  test("stores one by one, or many at once where it can", async () => {
    const snapshots = [1, 2].map((sequence) => ({
      name: `s${sequence}`,
      sequence,
      bytes: bytesOf(sequence),
    }));
    const apart = watched({ put: (name) => (name === "s2" ? fails("conflict")() : undefined) });
    const results = await apart.store.putMany(snapshots);
    expect(results.map((error) => error?.code)).toEqual([undefined, "conflict"]);
    expect(apart.calls).toEqual(["put s1 1 1", "put s2 2 2"]);
    const together = watched({ putMany: () => [true, false] });
    const [fine, refused] = await together.store.putMany(snapshots);
    expect([fine, refused?.code]).toEqual([undefined, "conflict"]);
    expect(together.calls).toHaveLength(1);
    await together.store.putMany(snapshots.slice(1));
    expect(together.calls[1]).toBe("put s2 2 2");
    for (const wrong of [[true], [true, 1], undefined, [true, false, true]]) {
      const all = await watched({ putMany: () => wrong }).store.putMany(snapshots);
      expect(all.map((error) => error?.message)).toEqual(
        [1, 2].map(() => "store: expected putMany to return 2 times true or false, got something else"),
      );
    }
    const down = await watched({ putMany: fails() }).store.putMany(snapshots);
    expect(down[1]!.message).toBe("store: putMany of 2 streams failed; try again");
  });

  test("names and removes where it can", async () => {
    const { store, calls } = watched({ names: () => ["b", "a"], remove: () => undefined });
    expect(await store.names()).toEqual(["b", "a"]);
    await store.remove("s", 3);
    expect(calls).toEqual(["names ", "remove s 3"]);
    for (const wrong of ["ab", [1], undefined, new Array(2 ** 24 + 1)])
      await expect(watched({ names: () => wrong }).store.names()).rejects.toMatchObject({
        ...{
          code: "invalid",
          message: "store: expected names to return an array of strings, got something else",
        },
      });
    for (const act of [(bare: CheckedStore) => bare.names(), (bare: CheckedStore) => bare.remove("s", 1)])
      await expect(act(watched({}).store)).rejects.toMatchObject({ code: "unsupported" });
  });

  test("an error of its own is passed on as it is", async () => {
    const own = new StoreError("invalid", "mine");
    const { store } = watched({
      get: () => {
        throw own;
      },
    });
    await expect(store.get("s")).rejects.toBe(own);
    for (const cause of [null, "text", undefined]) {
      const odd = watched({ get: () => AbortSignal.abort(cause).throwIfAborted() });
      await expect(odd.store.get("s")).rejects.toMatchObject({ code: "unavailable" });
    }
  });

  test("commits are offered three times, read back first, and counted", async () => {
    const snapshot = { name: "s", sequence: 3, bytes: bytesOf(1, 2) };
    const run = async (answers: Parameters<typeof watched>[0], durable = true) => {
      const { store, calls } = watched(answers, durable);
      const committer = new Committer(store);
      const result = await committer.commit(() => snapshot).catch((error: StoreError) => error.code);
      return { result, calls: calls.map((call) => call.split(" ")[0]!).join(" "), ...committer.stats };
    };
    const older = () => ({ sequence: 2, bytes: bytesOf(0) });
    expect(await run({})).toEqual({ result: 3, calls: "put", commits: 1, snapshots: 1, retries: 0 });
    expect(await run({ put: fails(), get: older })).toEqual({
      ...{ result: "in-doubt", calls: "put get put get put get", commits: 1, snapshots: 0, retries: 3 },
    });
    expect(await run({ put: fails(), get: () => snapshot })).toEqual({
      ...{ result: 3, calls: "put get", commits: 1, snapshots: 1, retries: 1 },
    });
    for (const put of [fails(), fails("conflict")]) {
      // A sequence number is given once: another snapshot that has it shows that this one is not stored.
      for (const found of [bytesOf(1, 3), bytesOf(1)])
        expect((await run({ put, get: () => ({ ...snapshot, bytes: found }) })).result).toBe("conflict");
      expect((await run({ put, get: () => ({ ...snapshot, sequence: 4 }) })).result).toBe("in-doubt");
      expect((await run({ put, get: () => snapshot })).result).toBe(3);
    }
    expect(await run({ put: fails() }, false)).toMatchObject({
      result: "unavailable",
      calls: "put",
      retries: 0,
    });
    expect(await run({ put: fails("conflict"), get: older })).toMatchObject({
      result: "conflict",
      calls: "put get",
      retries: 1,
    });
    let puts = 0;
    const late = {
      put: () => fails(puts++ === 0 ? undefined : "conflict")(),
      get: () => (puts > 1 ? snapshot : older()),
    };
    expect(await run(late)).toMatchObject({ result: 3, calls: "put get put get", retries: 2 });
    puts = 0;
    expect(
      await run({ put: () => fails(puts++ === 0 ? undefined : "conflict")(), get: older }),
    ).toMatchObject({
      ...{ result: "in-doubt", calls: "put get put get put get" },
    });
  });

  afterEach(() => vi.useRealTimers());
  test("commits begin `every` milliseconds apart, and hold all that came meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    const { store, calls } = watched({
      putMany: (snapshots: readonly unknown[]) => snapshots.map(() => true),
    });
    const committer = new Committer(store, 40);
    const commit = (name: string) => committer.commit(() => ({ name, sequence: 1, bytes: bytesOf() }));
    await Promise.all([commit("a"), commit("b")]);
    const [c, d] = [commit("c"), commit("d")];
    await vi.advanceTimersByTimeAsync(39);
    expect(calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all([c, d])).toEqual([1, 1]);
    expect(committer.stats).toEqual({ commits: 2, snapshots: 4, retries: 0 });
    const broken = committer.commit(() => {
      throw new RangeError("no memory");
    });
    broken.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(40);
    await expect(broken).rejects.toThrow("no memory");
    expect(committer.stats.commits).toBe(2);
  });
});
