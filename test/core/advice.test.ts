/** Settings that are allowed and seldom meant: one line of `explain` says what they mean. */
import { expect, test } from "vitest";
import { boundAdvice, epsilonAdvice } from "../../src/core/advice.js";
import { aggregator, openHub, privateCounter, privateStream } from "../../src/index.js";

const WEAK = /protects little: a guess about somebody that is right with odds of 50 % may be right with/;

test("ε above 10 is told by what it gives away, in streams, counters and reports of devices", () => {
  const texts = (epsilon: number): string[] => [
    privateStream({ epsilon, max: 10 }).explain(),
    privateCounter({ epsilon, every: "1h" }).explain(),
    aggregator({ epsilon, max: 10 }).explain(),
  ];
  for (const text of texts(12)) expect(text).toMatch(WEAK);
  for (const text of texts(10)) expect(text).not.toMatch(WEAK);
  expect(epsilonAdvice(11)[0]).toContain("may be right with 99.998 %");
  expect(epsilonAdvice(600)[0]).toContain("99.999 9 %");
});

test("a max of a thousand times θ is told", () => {
  const far = "is over a thousand times θ = 50: values above θ are clamped to θ";
  const options = { epsilon: 1, max: 50_000, threshold: 50 };
  expect(privateStream(options).explain()).toContain(`max = 50000 ${far}`);
  expect(privateStream({ ...options, of: "sum", every: "1h" }).explain()).toContain(`max = 50000 ${far}`);
  for (const other of [{ max: 49_999 }, { max: 50_000, threshold: undefined }]) {
    const given = { epsilon: 1, max: other.max, ...("threshold" in other ? {} : { threshold: 51 }) };
    expect(privateStream(given).explain()).not.toContain("a thousand times");
  }
  expect(boundAdvice(-10, 990, -9)).toHaveLength(1);
  expect(boundAdvice(0, 990, 1)).toEqual([]);
  expect(boundAdvice(0, 1e6, 0)).toEqual([]); // zeros are published, whatever comes
});

test("a key of a hub that is misspelt does not compile, and a question about it names the one that was meant", async () => {
  const metrics = { orders: { of: "count", epsilon: 1, every: "1h", keys: ["berlin", "paris"] } } as const;
  const hub = openHub({ metrics });
  await hub.add("orders", "berlin");
  // @ts-expect-error: not one of the keys. At run time nothing tells: an event of an unlisted key is dropped.
  await hub.add("orders", "berln");
  const asked: string = "berln"; // any string may be asked about
  await hub.add("orders", asked);
  await expect(hub.last("orders", asked, "1h")).rejects.toThrow(
    'key: expected one of the keys of metric orders, got "berln"; did you mean berlin?',
  );
  // @ts-expect-error: the same of questions
  await expect(hub.last("orders", "tokyo", "1h")).rejects.toThrow(/got "tokyo"$/);
  await hub.close();
  const ruled = openHub({
    metrics: { orders: { ...metrics.orders, keys: (key: string) => key.length < 9 } },
  });
  await ruled.add("orders", "anything");
  await ruled.close();
});
