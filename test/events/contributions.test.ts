/** Contributions over many streams: k events of a person and period, the same again from bytes. */
import { expect, test } from "vitest";
import { Contributions } from "../../src/node.js";

const key = new Uint8Array(16).fill(7);
const limit = { events: 2, every: "1d" };
const DAY = 86_400_000;

test("two events of a person count in a day, and two more on the next", () => {
  const contributions = new Contributions(key, limit);
  const taken = (person: string, at: number) => contributions.admit(contributions.hash(person), at);
  expect([taken("a", 0), taken("a", 1), taken("a", 2), taken("b", 3)]).toEqual([true, true, false, true]);
  expect([taken("a", DAY), taken("a", DAY), taken("a", DAY)]).toEqual([true, true, false]);
});

test("bytes carry the counts on; days that are over are forgotten", () => {
  const first = new Contributions(key, limit);
  for (let i = 0; i < 3; i++) first.admit(first.hash("a"), 5);
  first.admit(first.hash("b"), 5);
  const second = new Contributions(key, limit);
  second.load(first.save(0, DAY));
  expect(second.admit(second.hash("a"), 6)).toBe(false);
  expect([second.admit(second.hash("b"), 6), second.admit(second.hash("b"), 6)]).toEqual([true, false]);
  second.forgetBefore(DAY);
  expect(second.bytes).toBe(0);
});

test("the bytes do not tell how many people there are, nor contain an id", () => {
  const lengths = [1, 7, 16].map((people) => {
    const contributions = new Contributions(key, limit);
    for (let i = 0; i < people; i++) contributions.admit(contributions.hash(`person-${i}`), 5);
    const bytes = contributions.save(0, DAY);
    expect(Buffer.from(bytes).includes("person")).toBe(false);
    return bytes.length;
  });
  expect(new Set(lengths).size).toBe(1);
});

test("wrong keys and ids are refused, without the id", () => {
  expect(() => new Contributions(new Uint8Array(8), limit)).toThrow("key: expected 16 bytes");
  const contributions = new Contributions(key, limit);
  expect(() => contributions.hash("x".repeat(5000))).toThrow(
    /^person: expected text of 1 to 4096 characters/,
  );
});
