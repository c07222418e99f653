/** A reader of numbers that someone else wrote: repeats, contradictions and gaps. And the formats of values. */
import { expect, test } from "vitest";

import { MemoryCluster } from "../src/memory/memoryCluster.js";
import type { LogRecord } from "../src/port.js";
import { PublishedTwice, readPublishedFrom } from "../src/readPublished.js";
import { publishedRecord, readNumber, readPerson } from "../src/values.js";

/** Reads a topic to which these numbers of one stream were written. */
async function read(numbers: readonly (readonly [position: number, value: number])[]) {
  const port = new MemoryCluster().port();
  await port.create([{ name: "out", partitions: 1, replicas: 1, config: {} }]);
  const records = numbers.map(([position, value]) =>
    publishedRecord(Buffer.from("a"), { position, value }, "json"),
  );
  await port.send([{ topic: "out", partition: 0, records }]);
  const found: [number, number][] = [];
  for await (const { position, value } of readPublishedFrom(port, { topic: "out", toEnd: true }))
    found.push([position, value]);
  return found;
}

test("a position that comes again with the same number is given once", async () => {
  const once = [
    [0, 1.5],
    [1, 2],
    [2, -3],
  ] as const;
  expect(await read([once[0], once[1], once[0], once[1], once[2]])).toEqual(once);
});

test("a position that comes again with another number is an alarm, without the number", async () => {
  const reading = read([
    [0, 1.5],
    [1, 2],
    [0, 1.25],
  ]);
  await expect(reading).rejects.toBeInstanceOf(PublishedTwice);
  await expect(reading).rejects.toThrow(/^position 0: published again with another number; [a-z ]+$/);
});

test("a position that is missing is an alarm", async () => {
  const reading = read([
    [0, 1],
    [2, 1],
  ]);
  await expect(reading).rejects.toThrow("position 2: expected 1 first; records of the topic were lost");
});

const record = (value: Buffer | null): LogRecord => ({
  ...{ offset: 0, timestamp: 0, key: null, headers: [] },
  value,
});
const text = (value: string) => record(Buffer.from(value));

test("values are read from JSON, float64, float32 or by a function; what is no number is NaN", () => {
  const [double, single] = [Buffer.alloc(8), Buffer.alloc(4)];
  double.writeDoubleBE(2.5);
  single.writeFloatBE(-0.5);
  expect(readNumber(record(double), "float64")).toBe(2.5);
  expect(readNumber(record(single), "float32")).toBe(-0.5);
  expect(readNumber(text("12"), "json")).toBe(12);
  expect(readNumber(text('{ "value": 7 }'), "json")).toBe(7);
  expect(readNumber(record(double), ({ value }) => value!.length)).toBe(8);
  const bad = [
    readNumber(record(double), "float32"),
    readNumber(record(single), "float64"),
    readNumber(record(null), "float64"),
    ...["", "x", '"3"', "null", "1e999", '{ "value": "7" }'].map((json) => readNumber(text(json), "json")),
    readNumber(text("1"), () => {
      throw new Error("private");
    }),
  ];
  expect(bad).toEqual(bad.map(() => NaN));
});

test("a person is a text that is not empty", () => {
  expect(readPerson(text('{ "value": 1, "person": "ada" }'), "json")).toBe("ada");
  expect(readPerson(text("1"), () => ({ value: 1, person: "ben" }))).toBe("ben");
  for (const json of ["1", "null", '{ "person": "" }', '{ "person": 5 }', "{"])
    expect(readPerson(text(json), "json")).toBeUndefined();
});
