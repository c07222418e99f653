import { describe, expect, test } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import { Purpose, subStream } from "../../../src/core/random.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { makeChoice } from "../../../src/stream/holdout/choice.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";
import { noiseScale } from "../../../src/stream/release/forest.js";
import { Probe, type ProbeShape, roughness } from "../../../src/stream/holdout/probe.js";
import { laplaceVariance, meanVariance } from "../../../src/stream/answer/variance.js";

const cores = { js: chooseCore("js"), wasm: chooseCore("wasm") };

describe("the probe", () => {
  const shape = { epsilon: 4, fanout: 4, levels: 2, skipped: 2, maxRange: 256, probing: 64 };
  const decide = (values: readonly number[], theta: number, seed = "probe") => {
    const probe = new Probe(shape, theta);
    for (const x of values) probe.add(x);
    return probe.decide(cores.js, unsafeKey(seed));
  };

  test("running deviations from a group's mean, by hand", () => {
    // 1, 3 | 5, 5: means 2 and 5; running deviations −1, 0 | 0, 0.
    expect(roughness(Float64Array.of(1, 3, 5, 5), 2)).toBe(0.5);
  });

  test("noise alone has the expected roughness", () => {
    // S of G groups: mean v(b² − 1)/6. 2000 groups of heavy-tailed squares: within 20 % in all but one of 10⁷ seeds.
    const noise = new Float64Array(8000);
    cores.js.laplace(subStream(unsafeKey("rough"), Purpose.probe, 0, 0), choiceScale(50), noise);
    expect(roughness(noise, 4) / ((laplaceVariance(50) * 15) / 6)).toBeCloseTo(1, 0);
  });

  test("a flat stream keeps the level, a rough one loses it", () => {
    const flat = new Array<number>(64).fill(100);
    const rough = flat.map((_, i) => (Math.floor(i / 8) % 2 === 0 ? 0 : 5000));
    expect(decide(flat, 100)).toBe(2);
    expect(decide(rough, 5000)).toBe(1);
  });

  test("what the noise adds is taken off before the stream is called rough", () => {
    // Blocks of 4 values at 400, 400, 0, 0: squared running deviations of 6·200² a group, ½·6 = 3 in units of (Θ/ε)². The
    // limit there is 5.8. Noise adds 2.5 on average, which is taken off: were it added instead, there would be 8.
    const wide = { epsilon: 0.5, fanout: 4, levels: 1, skipped: 2, maxRange: 64, probing: 1024 };
    let kept = 0;
    for (let seed = 0; seed < 40; seed++) {
      const probe = new Probe(wide, 100);
      for (let i = 0; i < wide.probing; i++) probe.add(i % 16 < 8 ? 100 : 0);
      if (probe.decide(cores.js, unsafeKey(`level ${seed}`)) === 2) kept++;
    }
    expect(kept).toBe(40);
  });

  /** The text above probe.ts, word by word: sums of blocks, then groups of b of them. */
  function byTheText(of: ProbeShape, theta: number, values: readonly number[], key: Uint32Array): number {
    const { epsilon, fanout: b, levels, skipped: s, maxRange } = of;
    const length = b ** (s - 1);
    const noise = new Float64Array(values.length / length);
    cores.js.laplace(subStream(key, Purpose.probe, 0, 0), noiseScale(1, theta, epsilon), noise);
    const sums = noise.map((x, i) =>
      values.slice(i * length, (i + 1) * length).reduce((sum, value) => sum + value, x),
    );
    let squares = 0;
    for (let first = 0; first < sums.length; first += b)
      for (let k = 1; k <= b; k++) {
        const group = [...sums.slice(first, first + b)];
        const all = group.reduce((sum, x) => sum + x);
        squares += (group.slice(0, k).reduce((sum, x) => sum + x) - (k / b) * all) ** 2;
      }
    const groups = sums.length / b;
    const missed = (2 / b) * (squares / groups - (laplaceVariance(theta / epsilon) * (b * b - 1)) / 6);
    const [less, now] = [meanVariance(maxRange, b, levels + 1, s - 1), meanVariance(maxRange, b, levels, s)];
    return missed > 0.5 * (less - now) * (theta / epsilon) ** 2 ? s - 1 : s;
  }

  test.each([
    [{ epsilon: 4, fanout: 4, levels: 2, skipped: 2, maxRange: 256, probing: 64 }, 900],
    [{ epsilon: 9, fanout: 3, levels: 3, skipped: 1, maxRange: 80, probing: 27 }, 50],
    [{ epsilon: 1, fanout: 2, levels: 3, skipped: 3, maxRange: 60, probing: 32 }, 7],
  ])("decides by its formula, around the limit: %o", (of, theta) => {
    const decided = new Set<number>();
    for (let i = 0; i < 400; i++) {
      // Steps between 0 and a height, at places of their own.
      const height = Math.floor((theta * (i % 40)) / 39);
      const values = Array.from({ length: of.probing }, (_, k) =>
        Math.floor((k + i) / (3 + (i % 5))) % 2 === 0 ? 0 : height,
      );
      const probe = new Probe(of, theta);
      for (const x of values) probe.add(x);
      const key = unsafeKey(`by the text ${i}`);
      const s = probe.decide(cores.js, key);
      expect(s).toBe(byTheText(of, theta, values, key));
      decided.add(s);
    }
    expect(decided.size).toBe(2);
  });

  test("is saved and loaded at any moment", () => {
    const values = Array.from({ length: 64 }, (_, i) => (i < 32 ? 0 : 900));
    for (const at of [0, 1, 33, 64]) {
      const [probe, loaded] = [new Probe(shape, 900), new Probe(shape, 900)];
      for (const x of values.slice(0, at)) probe.add(x);
      const writer = new Encoder();
      probe.save(writer);
      loaded.load(new Decoder(writer.bytes));
      for (const x of values.slice(at)) loaded.add(x);
      expect(loaded.decide(cores.js, unsafeKey("probe"))).toBe(decide(values, 900));
    }
  });
});

function choiceScale(t: number) {
  return makeChoice(1 / t, 16, 256, 2).countScale;
}
