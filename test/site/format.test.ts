import { expect, test } from "vitest";
import { amount, atLeast, duration, powers } from "../../site/src/look/format.js";

test("amounts have four digits, or all before the point, and no letters for thousands", () => {
  const cases: [number, string][] = [
    [0, "0"],
    [0.0123456, "0.01235"],
    [-117.84, "−117.8"],
    [1871234567.8, "1,871,234,568"],
    [-2.5e12, "−2.50\u00a0×\u00a010¹²"],
  ];
  for (const [value, text] of cases) expect(amount(value)).toBe(text);
});

test("powers of ten and durations", () => {
  expect([powers(0), powers(2.166e11), powers(3e-5)]).toEqual([
    "0",
    "2.17\u00a0×\u00a010¹¹",
    "3.00\u00a0×\u00a010⁻⁵",
  ]);
  expect([duration(0), duration(65_536), duration(90)]).toEqual([
    "0\u00a0s",
    "18\u00a0h 12\u00a0min",
    "1\u00a0min 30\u00a0s",
  ]);
});

test("a lower bound is never rounded up", () => {
  expect([atLeast(5.177), atLeast(0.8999), atLeast(0)]).toEqual(["5.17", "0.89", "0"]);
});
