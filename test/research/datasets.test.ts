import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { formatOf, readNumbers } from "../../src/cli/input.js";
import {
  characteristics,
  DATASET_NAMES,
  TABLE1,
  type Characteristics,
} from "../../research/data/datasets.js";
import { generate } from "../../research/data/generate.js";
import { fromNumbers } from "../../research/data/source.js";

test("characteristics, worked by hand", () => {
  const values = Float64Array.from({ length: 200 }, (_, i) => ((i * 7) % 200) + 1); // 1 … 200 in some order
  expect(characteristics(values, 300)).toEqual({
    n: 200,
    max: 300,
    p85: 170,
    p95: 190,
    p995: 199,
    p100: 200,
    mean: 100.5,
  });
});

/** Percentiles within 1 % or one unit, the mean within 0.5 %, length and largest value exactly. */
function matches(values: Float64Array, row: Characteristics): boolean {
  const got = characteristics(values, row.max);
  const near = (a: number, b: number) => Math.abs(a - b) <= Math.max(1, 0.01 * b);
  return (
    got.n === row.n &&
    got.p100 === row.p100 &&
    (["p85", "p95", "p995"] as const).every((p) => near(got[p], row[p])) &&
    Math.abs(got.mean / row.mean - 1) <= 0.005
  );
}

describe.each(DATASET_NAMES)("%s", (name) => {
  const values = generate(name);
  const row = TABLE1[name];

  test("is whole numbers with the statistics of Table 1", () => {
    expect(values.every((value) => Number.isInteger(value) && value >= 0 && value <= row.max)).toBe(true);
    expect(matches(values, row)).toBe(true);
  });

  test("one value in a hundred made larger is seen", () => {
    const tampered = values.map((value, i) => (i % 100 === 0 ? Math.min(row.p100, value + row.p85) : value));
    expect(matches(tampered, row)).toBe(false);
  });
});

test("DNS has days and bursts", () => {
  const values = generate("DNS");
  const day = TABLE1.DNS.n / 14;
  const meanOf = (keep: (t: number) => boolean) => {
    const kept = values.filter((_, t) => keep(t));
    return kept.reduce((sum, value) => sum + value, 0) / kept.length;
  };
  const hour = (t: number) => ((t % day) / day) * 24;
  expect(meanOf((t) => hour(t) >= 10 && hour(t) < 14)).toBeGreaterThan(
    2 * meanOf((t) => hour(t) >= 22 || hour(t) < 2),
  );
  // After a value above p99.5 the next one is above p95 far more often than in one case out of twenty.
  const { p95, p995 } = TABLE1.DNS;
  const high = values.filter((_, t) => t > 0 && values[t - 1]! > p995);
  expect(high.filter((value) => value > p95).length / high.length).toBeGreaterThan(0.4);
});

test("the same numbers every time", () => {
  const [once, again] = [generate("POS"), generate("POS")];
  expect(once.every((value, i) => value === again[i])).toBe(true);
});

describe("files", () => {
  const folder = mkdtempSync(join(tmpdir(), "brume-data-"));
  const read = (name: string, content: string | Buffer, column?: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return readNumbers(path, formatOf(path, undefined), column);
  };

  test("transactions become basket sizes, gzip or not", async () => {
    const text = "1 2 3\n4\n10 20 30 40 50 \n";
    expect([...(await read("baskets.dat", text))]).toEqual([3, 1, 5]);
    expect([...(await read("baskets.dat.gz", gzipSync(text)))]).toEqual([3, 1, 5]);
    await expect(read("gap.dat", "1 2\n\n3\n")).rejects.toThrow("line 2: expected at least one item");
  });

  test("taxi records become cents within [0, max]", async () => {
    const csv = 'VendorID,fare_amount,note\n1,7.5,"a, b"\n2,-3,x\n1,12.35,y\n2,900,z\n';
    const { values, origin, id } = fromNumbers(
      "Fare",
      "taxi.csv",
      await read("taxi.csv", csv, "fare_amount"),
      true,
    );
    expect([...values]).toEqual([750, 0, 1235, 30000]);
    expect(origin).toBe("taxi.csv");
    expect(id).not.toBe(fromNumbers("Fare", "taxi.csv", Float64Array.of(750, 0, 1235, 29999)).id);
  });

  test("one number a line", async () => {
    const numbers = await read("dns.txt.gz", gzipSync("5\n0\n2001\n"));
    expect([...fromNumbers("DNS", "dns.txt.gz", numbers).values]).toEqual([5, 0, 2000]);
  });
});
