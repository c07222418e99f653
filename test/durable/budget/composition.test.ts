/** (ε, δ) of many days: against exact binomial laws of 512 bits, and never below them. */
import { describe, expect, test } from "vitest";
import { expFixed } from "../../../src/core/tables/fixedPoint.js";
import { composedEpsilon, type EqualDraws } from "../../../src/durable/budget/composition.js";
import { type Charge, drawsOf, exact } from "../../../src/durable/budget/ledger.js";
import { openOdometer, privateCounter, privateStream, type Release } from "../../../src/index.js";
import { key, plainStore } from "../support.js";

const BITS = 512;
const ONE = 1n << BigInt(BITS);
const UNIT = exact(1);

/** Σ P(L = l)·(1 − e^(ε − l)) over all l > ε, from the binomial law of each kind. In fixed point, good for 140 digits. @param epsilon in 10⁻³⁰ */
function trueDelta(draws: readonly EqualDraws[], epsilon: bigint): bigint {
  let law: { loss: bigint; odds: bigint }[] = [{ loss: 0n, odds: ONE }];
  for (const { epsilon: each, times } of draws) {
    const step = exact(each);
    const q = expFixed(step, UNIT, BITS);
    const p = (ONE * ONE) / (ONE + q);
    const binomial: { loss: bigint; odds: bigint }[] = [];
    let odds = ONE; // C(n, k)·p^(n − k)·(1 − p)^k = C(n, k)·q^k·p^n
    for (let i = 0; i < times; i++) odds = (odds * p) / ONE;
    for (let minus = 0; minus <= times; minus++) {
      binomial.push({ loss: BigInt(times - 2 * minus) * step, odds });
      odds = (odds * q * BigInt(times - minus)) / (ONE * BigInt(minus + 1));
    }
    law = law.flatMap((a) => binomial.map((b) => ({ loss: a.loss + b.loss, odds: (a.odds * b.odds) / ONE })));
  }
  return law
    .filter(({ loss }) => loss > epsilon)
    .reduce((sum, { loss, odds }) => sum + (odds * (ONE - expFixed(loss - epsilon, UNIT, BITS))) / ONE, 0n);
}

const fixed = (delta: number): bigint => (exact(delta) * ONE) / UNIT;

/** Whether ε is enough for δ by the exact law, and a little less of it is not. @param slack what a bound may be too large by */
function isLeast(draws: readonly EqualDraws[], delta: number, epsilon: number, slack: number): boolean {
  const less = exact(Number((epsilon * (1 - slack) - 2e-6).toFixed(12)));
  return trueDelta(draws, exact(epsilon)) <= fixed(delta) && trueDelta(draws, less) > fixed(delta);
}

const days = (epsilon: number, times: number): EqualDraws => ({ epsilon, times });

describe("equal days", () => {
  test("the exact law agrees with the published value: 365 days of 0.1 at 1e-9", () => {
    expect(trueDelta([days(0.1, 365)], exact(12.6751295))).toBeGreaterThan(fixed(1e-9));
    expect(trueDelta([days(0.1, 365)], exact(12.675129601))).toBeLessThan(fixed(1e-9));
  });

  test.each([
    [365, 0.1, 1e-9, 12.67513],
    [90, 0.03, 1e-9, 1.551],
    [30, 1, 1e-6, 29.988],
    [365, 0.1, 1e-6, 10.31],
    [30, 0.01, 1e-6, 0.199],
    [365, 0.3, 1e-9, 48.83],
    [90, 1, 1e-9, 83.76],
    [365, 1, 1e-9, 262.9],
  ])("%i days of ε = %d at δ = %d: %d", (times, epsilon, delta, expected) => {
    const got = composedEpsilon([days(epsilon, times)], delta);
    expect(Number(got.toPrecision(String(expected).replace(/^0\.|\./, "").length))).toBe(expected);
    expect(isLeast([days(epsilon, times)], delta, got, 2e-6)).toBe(true);
  });

  test("an ε that is rounded down is below the truth: the comparison sees it", () => {
    expect(composedEpsilon([days(0.09, 365)], 1e-9)).toBeCloseTo(11.228, 3);
    for (const down of [0.09, 0.09999]) {
      const low = composedEpsilon([days(down, 365)], 1e-9);
      expect(isLeast([days(0.1, 365)], 1e-9, low, 2e-6)).toBe(false);
    }
  });
});

describe("different days", () => {
  test.each([
    [[days(0.3, 730), days(0.4, 365)], 125.5443],
    [[days(0.03, 730), days(0.04, 365)], 6.9339],
    [[days(1, 1), days(0.05, 365)], 6.7636],
  ])("%j: %d", (draws, expected) => {
    expect(composedEpsilon(draws, 1e-9)).toBeCloseTo(expected, 3);
  });

  test("is never below the exact law, and close to it, whatever the decimals", () => {
    let state = 12345;
    const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
    for (let i = 0; i < 12; i++) {
      const draws = Array.from({ length: 2 }, () =>
        days(Number((next() ** 3 * 2 + 1e-4).toPrecision(1 + (i % 6))), 1 + Math.floor(25 * next())),
      );
      const delta = 10 ** -(1 + Math.floor(12 * next()));
      const got = composedEpsilon(draws, delta);
      expect(isLeast(draws, delta, got, 0.01), JSON.stringify([draws, delta])).toBe(true);
    }
  });

  test("many draws are put together to larger ones: above the exact value, and never above the sum", () => {
    const exactly = composedEpsilon([days(0.001, 4096)], 1e-9);
    const grouped = composedEpsilon([days(0.0005, 8192)], 1e-9);
    expect(grouped).toBe(exactly); // two draws count as one of twice the ε
    expect(composedEpsilon([days(1e-12, 2 ** 40)], 1e-9)).toBeLessThanOrEqual(1.1);
    const different = Array.from({ length: 2049 }, (_, i) => days(1 + i / 1e4, 1));
    const sum = different.reduce((total, { epsilon }) => total + epsilon, 0);
    expect(composedEpsilon(different, 1e-9)).toBeCloseTo(sum, 6);
  });

  test("one draw is almost its ε, none is 0, and δ has bounds", () => {
    expect(composedEpsilon([], 1e-9)).toBe(0);
    expect(composedEpsilon([days(1, 1)], 1e-9)).toBeLessThanOrEqual(1);
    expect(composedEpsilon([days(1, 1)], 1e-9)).toBeGreaterThan(0.99999);
    expect(composedEpsilon([days(1e6, 3)], 1e-9)).toBe(3e6);
    for (const delta of [0, 1, 1e-101, NaN])
      expect(() => composedEpsilon([days(1, 1)], delta)).toThrow(/^delta: expected 1e-100 ≤ δ < 1, got/);
    expect(() => composedEpsilon([days(0, 1)], 1e-9)).toThrow(/^epsilon: expected/);
    expect(() => composedEpsilon([days(1, 0.5)], 1e-9)).toThrow(/^times: expected/);
  });
});

describe("an odometer", () => {
  const open = () => openOdometer({ name: "o", store: plainStore(), key, limit: 1000, unit: "one person" });
  const daily = (epsilon: number, periods?: Release["periods"]): Release => ({
    ...{ epsilon, unit: "one person, per day" },
    ...(periods === undefined ? {} : { periods }),
  });
  const at = async (release: Release, perUnit: number, times: number) => {
    const odometer = await open();
    await odometer.register("a", release, { perUnit });
    if (times > 1) await odometer.spend("a", times - 1);
    return odometer.statement({ delta: 1e-9 }).data[0]!;
  };

  test("days with noise of their own are draws; the sum stays beside it", async () => {
    const year = await at(daily(0.1, "own noise"), 1, 365);
    expect(year.spent).toBe(36.5);
    expect(year.approximate).toEqual({ epsilon: 12.67513, delta: 1e-9, draws: 365 });
  });

  test("days that share noise add up: as draws they would be stated at 12.7, where δ is 0.3", async () => {
    for (const release of [daily(0.1), daily(0.1, "shared noise")])
      expect((await at(release, 1, 365)).approximate).toMatchObject({ draws: 1, epsilon: 36.5 });
  });

  test("perUnit multiplies ε and is no number of draws", async () => {
    const { approximate } = await at(daily(0.02, "own noise"), 5, 365);
    expect(approximate).toEqual({ epsilon: 12.67513, delta: 1e-9, draws: 365 });
    expect(composedEpsilon([days(0.02, 1825)], 1e-9)).toBeCloseTo(5.183, 3); // what it would say as draws
    const charge = { name: "a", data: "d", part: null, unit: "u" } as const;
    const own: Charge = { ...charge, epsilon: 0.02, perUnit: 5, times: 365, periods: "own noise" };
    expect(drawsOf(own)).toEqual({ epsilon: exact(0.1), times: 365n });
  });

  test("the part that spends most counts, with what reads all of the data", async () => {
    const odometer = await open();
    const register = async (name: string, part: string | undefined, epsilon: number, times: number) => {
      const terms = { perUnit: 1, ...(part === undefined ? {} : { part }) };
      await odometer.register(name, daily(epsilon, "own noise"), terms);
      await odometer.spend(name, times - 1);
    };
    await register("all", undefined, 1, 2);
    await register("eu", "eu", 0.05, 365);
    await register("us", "us", 1, 4); // a smaller sum
    const { approximate, spent } = odometer.statement({ delta: 1e-9 }).data[0]!;
    expect(spent).toBe(2 + 18.25);
    expect(approximate!.epsilon).toBe(composedEpsilon([days(1, 2), days(0.05, 365)], 1e-9));
    expect(approximate!.draws).toBe(367);
    expect(odometer.statement().data[0]).not.toHaveProperty("approximate");
  });

  test("more than 64 different parts: the sum, which holds for every δ", async () => {
    const odometer = await open();
    for (let i = 0; i < 65; i++) {
      await odometer.register(`p${i}`, daily(0.1, "own noise"), { perUnit: 1, part: `p${i}` });
      if (i > 0) await odometer.spend(`p${i}`, i);
    }
    expect(odometer.statement({ delta: 1e-6 }).data[0]!.approximate!.epsilon).toBe(6.5);
  });

  test("says it in words", async () => {
    const odometer = await open();
    await odometer.register("visits", daily(0.1, "own noise"), { perUnit: 1 });
    await odometer.spend("visits", 364);
    expect(odometer.explain({ delta: 1e-9 })).toContain(
      "all data: ε = 36.5 spent, 963.5 left\n  at δ = 1e-9 the same releases are ε = 12.67513: 365 draws of noise share nothing",
    );
    expect(odometer.explain()).not.toContain("δ");
    const shared = await open();
    await shared.register("visits", daily(0.1), { perUnit: 1 });
    expect(shared.explain({ delta: 1e-9 })).toContain("all of it may share one draw of noise, so ε adds up");
    expect(() => odometer.statement({ delta: 0 })).toThrow(/^delta: expected/);
  });

  test("what was registered as shared stays shared, and own noise is not taken back", async () => {
    const odometer = await open();
    await odometer.register("a", daily(0.1), { perUnit: 1 });
    await odometer.register("a", daily(0.1, "own noise"), { perUnit: 1 });
    await odometer.spend("a", 364);
    expect(odometer.statement({ delta: 1e-9 }).data[0]!.approximate!.epsilon).toBe(36.5);
    await odometer.register("b", daily(0.1, "own noise"), { perUnit: 1 });
    await expect(odometer.register("b", daily(0.1), { perUnit: 1 })).rejects.toThrow(
      'odometer: expected release "b" with periods = "own noise", got "shared noise"',
    );
    await expect(
      odometer.register("c", { ...daily(1), periods: "mine" as never }, { perUnit: 1 }),
    ).rejects.toThrow(/^periods: expected/);
  });
});

test("days of counters have noise of their own; θ that is chosen from several days is shared", () => {
  const events = { epsilon: 1, every: "1h" } as const;
  expect(privateCounter(events).statement().periods).toBe("own noise");
  expect(privateStream({ ...events, max: 9, threshold: 5 }).statement().periods).toBe("own noise");
  expect(privateStream({ ...events, max: 9 }).statement().periods).toBe("shared noise");
});
