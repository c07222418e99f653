import { describe, expect, test } from "vitest";
import { expCoin, ratioCoin } from "../src/core/coin.js";
import { jsCore } from "../src/core/js/index.js";
import { Stage, subStream, unsafeKey } from "../src/core/random.js";
import { makeScale } from "../src/core/scale.js";
import { makeWasmCore } from "../src/core/wasm/index.js";

const wasm = makeWasmCore();
const random = (name: string, position = 0) => ({
  ...subStream(unsafeKey(name), Stage.baseline, 0, 0),
  position,
});

describe("both cores draw the same", () => {
  const N = 200_000;
  test.each<[bigint, bigint]>([
    [1n, 10n],
    [7n, 10n],
    [1n, 1n],
    [5n, 3n],
    [40n, 1n],
    [4096n, 1n],
    [1n << 20n, 3n],
    [1n << 40n, 1n],
  ])("scale %d/%d", (numerator, denominator) => {
    const scale = makeScale(numerator, denominator);
    for (const sampler of ["laplace", "geometric"] as const) {
      const [a, b] = [random("same", 5), random("same", 5)];
      const [x, y] = [new Float64Array(N), new Float64Array(N)];
      wasm[sampler](a, scale, x);
      jsCore[sampler](b, scale, y);
      expect(Buffer.compare(Buffer.from(x.buffer), Buffer.from(y.buffer))).toBe(0);
      expect(a).toEqual(b);
      const mean = x.reduce((sum, k) => sum + Math.abs(k), 0) / N;
      const rho = Math.exp(-Number(denominator) / Number(numerator));
      const want = sampler === "geometric" ? rho / (1 - rho) : (2 * rho) / (1 - rho * rho);
      expect(Math.abs(mean / want - 1)).toBeLessThan(5 / Math.sqrt(N * Math.min(1, want)));
    }
  });

  test.each([1, 2, 3, 10, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1, 2 ** 53])("uniformBelow(%d)", (n) => {
    const [a, b] = [random("below"), random("below")];
    const [x, y] = [new Float64Array(1000), new Float64Array(1000)];
    wasm.uniformBelow(a, n, x);
    jsCore.uniformBelow(b, n, y);
    expect(Buffer.compare(Buffer.from(x.buffer), Buffer.from(y.buffer))).toBe(0);
    expect(a).toEqual(b);
  });

  test.each([expCoin(1n, 3n), ratioCoin(0n, 1n), ratioCoin(1n, 1n), ratioCoin(2n, 3n)])("toss", (coin) => {
    const [a, b] = [random("toss"), random("toss")];
    const [x, y] = [new Uint8Array(1000), new Uint8Array(1000)];
    wasm.toss(a, coin, x);
    jsCore.toss(b, coin, y);
    expect(Buffer.compare(Buffer.from(x.buffer), Buffer.from(y.buffer))).toBe(0);
    expect(a).toEqual(b);
  });
});
