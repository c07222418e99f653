import { expect, test } from "vitest";
import { lastMade } from "../../src/core/lastMade.js";

test("is made again only where a number differs from the last call", () => {
  let made = 0;
  const make = lastMade((a: number, b: number) => ({ a, b, count: ++made }));
  const first = make(1, 2);
  expect(make(1, 2)).toBe(first);
  expect(make(1, 3)).toEqual({ a: 1, b: 3, count: 2 });
  expect(make(1, 2)).toEqual({ a: 1, b: 2, count: 3 }); // only the last one is kept
  expect(make(1, 2).count).toBe(3);
});

test("tells 0 from −0, and knows NaN again", () => {
  let made = 0;
  const make = lastMade((a: number) => [a, ++made]);
  make(0);
  expect(make(-0)).toEqual([-0, 2]);
  make(NaN);
  expect(make(NaN)).toEqual([NaN, 3]);
});

test("what fails is made again", () => {
  let made = 0;
  const make = lastMade((a: number) => {
    if (++made === 1) throw new RangeError("no memory");
    return a;
  });
  expect(() => make(7)).toThrow("no memory");
  expect(make(7)).toBe(7);
});

test("one number more is another question", () => {
  const make = lastMade((a: number, b = 1) => a * b);
  expect([make(3), make(3, 5), make(3)]).toEqual([3, 15, 3]);
});
