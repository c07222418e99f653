import { describe, expect, test } from "vitest";
import { Decoder, Encoder } from "../../src/stream/codec.js";
import { People } from "../../src/events/people.js";
import { digest, hashText } from "../../src/events/siphash.js";

const hex = (words: Uint32Array) =>
  Array.from(new Uint8Array(words.slice().buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

describe("SipHash-2-4-128", () => {
  const key = new Uint32Array(Uint8Array.from({ length: 16 }, (_, i) => i).buffer);

  // From the authors' reference code: key 00 … 0f, message 00 … n − 1 (openssl mac -macopt size:16 … SIPHASH agrees).
  test.each([
    [0, "a3817f04ba25a8e66df67214c7550293"],
    [1, "da87c1d86b99af44347659119b22fc45"],
    [8, "3b62a9ba6258f5610f83e264f31497b4"],
    [15, "5493e99933b0a8117e08ec0f97cfc3d9"],
    [63, "5150d1772f50834a503e069a973fbd7c"],
  ])("of %d bytes", (length, expected) => {
    hashText(key, String.fromCharCode(...Array.from({ length }, (_, i) => i)));
    expect(hex(digest)).toBe(expected);
  });

  test("the hash of wide text never changes: snapshots have it", () => {
    hashText(key, "日本語");
    expect(hex(digest)).toBe("6a29e55e45f3245a242e1ebef40d5f03");
    hashText(key, "Ā".repeat(1000));
    expect(hex(digest)).toBe("e2a58f7c6e2257372cb9d2e1df6f9d6e");
  });

  test("wide text differs from the bytes it is made of, and from its neighbours", () => {
    const seen = new Set<string>();
    const texts = ["Ā", "Ā\0", "\0\x01", "\0\x01\0\0", "日本", "日本\0", "日", ""];
    for (const text of texts) {
      hashText(key, text);
      seen.add(hex(digest));
    }
    expect(seen.size).toBe(texts.length);
  });
});

const DAY = 86_400_000;
const people = (events: number) => new People(Uint32Array.of(1, 2, 3, 4), { events, every: DAY, people: 8 });

test("the first k events of a person and day count", () => {
  const limit = people(2);
  expect([5, 6, DAY - 1].map((at) => limit.admit("ann", at))).toEqual([true, true, false]);
  expect(limit.admit("bob", 7)).toBe(true);
  expect([DAY, DAY + 1, DAY + 2].map((at) => limit.admit("ann", at))).toEqual([true, true, false]);
  expect(limit.admit("ann", 8)).toBe(false); // a late one of the first day
});

test("what is dropped for one person depends on that person's events alone", () => {
  // All orders of the events of three people: each person's own events in order, whatever comes between.
  const admitted = (order: readonly string[]) => {
    const limit = people(2);
    const result: Record<string, boolean[]> = {};
    for (const person of order) (result[person] ??= []).push(limit.admit(person, 0));
    return result;
  };
  for (const order of ["aaabbc", "abcaba", "bbacaa", "caaabb"])
    expect(admitted([...order])).toEqual({ a: [true, true, false], b: [true, true], c: [true] });
});

test("a hundred thousand people are told apart, in tables that grow", () => {
  const limit = people(1);
  const ids = Array.from({ length: 100_000 }, (_, i) => `person ${i}`);
  expect(ids.every((id) => limit.admit(id, 0))).toBe(true);
  expect(ids.some((id) => limit.admit(id, 0))).toBe(false);
  expect(limit.bytes / ids.length).toBeLessThanOrEqual(64);
});

test("a period that is over is forgotten, with its memory", () => {
  const limit = people(1);
  limit.admit("ann", 0);
  limit.forgetBefore(DAY - 1);
  expect(limit.admit("ann", 1)).toBe(false);
  limit.forgetBefore(DAY);
  expect(limit.bytes).toBe(0);
});

test("counters survive a snapshot, whose length does not tell how many people there were", () => {
  const saved = (count: number) => {
    const limit = people(2);
    for (let i = 0; i < count; i++) limit.admit(`person ${i}`, 0);
    const writer = new Encoder();
    limit.save(writer, 0, DAY);
    return writer.bytes;
  };
  expect(saved(0).length).toBe(saved(8).length);
  expect(saved(17).length).toBe(saved(32).length); // more than the guess of 8: the next double
  expect(saved(33).length).toBeGreaterThan(saved(32).length);
  const loaded = people(2);
  loaded.load(new Decoder(saved(17)));
  expect([1, 2].map(() => loaded.admit("person 16", 0))).toEqual([true, false]);
  expect([1, 2, 3].map(() => loaded.admit("person 17", 0))).toEqual([true, true, false]);
});

test("no id is in a snapshot", () => {
  const limit = people(1);
  limit.admit("ann.smith@example", 0);
  const writer = new Encoder();
  limit.save(writer, 0, DAY);
  expect(Buffer.from(writer.bytes).includes("ann")).toBe(false);
});

test("the bytes that people take: none before the first one, and those of all periods together", () => {
  const people = new People(new Uint32Array(4), { events: 2, every: 60_000, people: 8 });
  expect(people.bytes).toBe(0);
  people.admit("ann", 0);
  const one = people.bytes;
  expect(one).toBeGreaterThan(0);
  people.admit("ann", 60_000);
  expect(people.bytes).toBe(2 * one);
});
