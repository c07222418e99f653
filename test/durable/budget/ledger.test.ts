/** Sums of ε, exact; and options of hubs, each to its end. */
import { describe, expect, test } from "vitest";
import { openHub, openOdometer, type Store } from "../../../src/index.js";
import { keyRule, resolveHub } from "../../../src/durable/hub/hubOptions.js";
import { type Charge, costOf, exact, rounded, spentOn } from "../../../src/durable/budget/ledger.js";
import { software, softwareText } from "../../../src/core/software.js";
import { key, options, plainStore } from "../support.js";

describe("sums of ε", () => {
  const charge = (change: Partial<Charge>): Charge => ({
    ...{ name: "a", data: "d", part: null, epsilon: 0.1, unit: "u", perUnit: 1, times: 1 },
    ...change,
  });

  test("are those of the decimal numbers", () => {
    for (const [value, text] of [
      [0.1, "100000000000000000000000000000"],
      [1e-12, "1000000000000000000"],
      [123456.789, "123456789000000000000000000000000000"],
      [1.5e-7, "150000000000000000000000"],
      [1e6, "1000000000000000000000000000000000000"],
      [1e21, `1${"0".repeat(51)}`],
    ] as const) {
      expect(exact(value)).toBe(BigInt(text));
      expect(rounded(exact(value))).toBe(value);
    }
    expect([rounded(0n), rounded(1n), rounded(exact(0.1) * 3n)]).toEqual([0, 1e-30, 0.3]);
    expect(costOf(charge({ epsilon: 0.3, perUnit: 5, times: 7 }))).toBe(exact(10.5));
  });

  test("all of the data, and the part that spent most", () => {
    const charges = [
      ...[charge({ epsilon: 1 }), charge({ epsilon: 2 }), charge({ data: "other", epsilon: 100 })],
      ...[
        charge({ part: "x", epsilon: 3 }),
        charge({ part: "y", epsilon: 2 }),
        charge({ part: "y", epsilon: 2.5 }),
      ],
    ];
    expect(rounded(spentOn("d", charges))).toBe(3 + 4.5);
    expect(spentOn("nothing", charges)).toBe(0n);
  });

  test("δ adds up beside ε, where it is allowed", async () => {
    const open = (limit: number | { epsilon: number; delta?: number }) =>
      openOdometer({ name: "o", store: plainStore(), key, limit, unit: "a person" });
    const votes = { epsilon: 1, delta: 4e-10, unit: "a person", periods: "own noise" } as const;
    await expect((await open(10)).register("keys", votes)).rejects.toThrow(/^delta: expected 0, got 4e-10/);
    const odometer = await open({ epsilon: 10, delta: 1e-9 });
    await odometer.register("keys", votes);
    expect(odometer.statement().data[0]).toMatchObject({ spent: 1, delta: 4e-10 });
    await odometer.spend("keys");
    await expect(odometer.spend("keys")).rejects.toThrow(
      /would bring "all data" to δ = 1.2e-9, expected at most/,
    );
    expect(odometer.statement().data[0]).toMatchObject({ spent: 2, delta: 8e-10 });
    expect(odometer.explain()).toContain(
      "δ = 8e-10 spent: the probability that a key that only one unit used",
    );
    expect(odometer.statement().software).toEqual(software);
    await expect(odometer.register("more", votes, { perUnit: 2 })).rejects.toThrow(/^perUnit: expected 1/);
    // What the composition may use is what votes have left.
    expect(() => odometer.statement({ delta: 8e-10 })).toThrow(/^delta: expected more than 8e-10/);
    const { approximate } = odometer.statement({ delta: 1e-3 }).data[0]!;
    expect(approximate!.epsilon).toBeLessThan(2);
    expect(approximate!.delta).toBe(1e-3);
  });

  test("an odometer explains them, to the ends of what it takes", async () => {
    const open = (more: object = {}) =>
      openOdometer({ name: "o", store: plainStore(), key, limit: 10, ...more });
    const odometer = await open();
    await odometer.register("sums", { epsilon: 0.5, unit: "one value" });
    await odometer.register(
      "people",
      { epsilon: 1, unit: "one person" },
      { perUnit: 2, data: "web", part: "eu" },
    );
    await odometer.spend("sums", 3);
    expect(odometer.explain()).toBe(
      [
        "Privacy budget of one value: ε at most 10 for each data set.",
        "all data: ε = 2 spent, 8 left",
        "  sums: ε = 2 (0.5 for one value, × 1 × 4)",
        "web: ε = 2 spent, 8 left",
        "  people (part eu): ε = 2 (1 for one person, × 2 × 1)",
        "Releases of the same data add up. Parts of one data set are disjoint: the part that spent most counts. Data sets are disjoint: each has the whole limit.",
        softwareText(software),
      ].join("\n"),
    );
    expect(odometer.sequence).toBe(3);
    for (const limit of [1e-12, 1e6]) expect((await open({ limit })).left()).toBe(limit);
    for (const limit of [0.9e-12, 1.1e6])
      await expect(open({ limit })).rejects.toThrow(`limit: expected 1e-12 to 1000000, got ${limit}`);
    const tiny = await open({ limit: 1e6 });
    await tiny.register("t", { epsilon: 1e-12, unit: "one value" });
    for (const times of [0, 2 ** 40, 2 ** 40 + 1])
      await expect(tiny.spend("t", times)).rejects.toThrow(/^times: expected a whole number from 1/);
    await tiny.spend("t", 2 ** 40 - 1);
    await expect(tiny.spend("t")).rejects.toThrow(/^times: expected/);
    const unit = (perUnit: number) =>
      tiny.register(`p${perUnit}`, { epsilon: 1e-12, unit: "u" }, { perUnit });
    await unit(2 ** 40);
    await expect(unit(2 ** 40 + 1)).rejects.toThrow(/^perUnit: expected a whole number from 1/);
    await expect(unit(0)).rejects.toThrow(/^perUnit: expected/);
  });

  test("a change is tried eight times while others are faster", async () => {
    const store = plainStore();
    let offers = 0;
    const busy: Store = {
      ...store,
      put: () => (offers++, Promise.reject(Object.assign(new Error("taken"), { code: "conflict" }))),
    };
    const odometer = await openOdometer({ name: "o", store: busy, key, limit: 1 });
    await expect(odometer.register("a", { epsilon: 1, unit: "one value" })).rejects.toMatchObject({
      code: "conflict",
    });
    expect(offers).toBe(8);
  });
});

describe("options of a hub", () => {
  test("defaults, ends, and one beyond them", () => {
    const settings = resolveHub(options);
    expect(settings).toMatchObject({ live: 1024, commitEvery: 0, threshold: "noisy-max", budget: undefined });
    expect([settings.atLeast("s"), settings.store.durable, settings.keys.has("x")]).toEqual([0, false, true]);
    expect((settings.key as Uint8Array).length).toBe(32);
    expect(resolveHub({ ...options, live: 1, commitEvery: 60_000 })).toMatchObject({
      live: 1,
      commitEvery: 60_000,
    });
    expect(resolveHub({ ...options, live: 2 ** 24 }).live).toBe(2 ** 24);
    for (const wrong of [{ live: 0 }, { live: 2 ** 24 + 1 }, { commitEvery: -1 }, { commitEvery: 60_001 }])
      expect(() => resolveHub({ ...options, ...wrong })).toThrow(
        new RegExp(`^${Object.keys(wrong)[0]}: expected a whole number from`),
      );
    expect(() => openHub({ ...options, store: plainStore() })).toThrow(
      "key: expected 32 bytes or a CryptoKey for the snapshots in your store, got none",
    );
    expect(() => openHub({ ...options, atLeast: 5 as never })).toThrow(
      "atLeast: expected a function, got a value of type number",
    );
  });

  test("keys: any, a list, or a rule that says true", () => {
    expect(keyRule(["a", "b", "a"])).toMatchObject({ list: ["a", "b"] });
    expect(["a", "c"].map((name) => keyRule(["a"]).has(name))).toEqual([true, false]);
    expect(
      ["a", "b"].map((name) => keyRule(((x: string) => (x === "a" ? true : 1)) as never).has(name)),
    ).toEqual([...[true, false]]);
    for (const wrong of ["ab", 5, null, {}])
      expect(() => keyRule(wrong as never, "k")).toThrow(
        "k: expected a list of names or a function, got something else",
      );
    expect(() => keyRule([5 as never])).toThrow(/^keys: expected/);
  });
});
