import { expect, test } from "vitest";
import { openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, exact, keys, TEN } from "./support.js";

const people = (store = plainStore(), clock = new Clock()) => {
  const perPerson = 2;
  const metrics = { orders: { ...exact, epsilon: 256, of: "count", keys, perPerson } } as const;
  return openHub({ metrics, store, key, clock: clock.read, commitEvery: 0 });
};

test("a person's limit holds over all keys, and over restarts", async () => {
  const store = plainStore();
  const add = (hub: ReturnType<typeof people>, city: string, person: string) =>
    hub.add("orders", city, 1, { person });
  const first = people(store);
  await add(first, "berlin", "ann");
  await add(first, "paris", "bob");
  const second = people(store); // the first one was killed
  await Promise.all(["berlin", "paris", "paris"].map((city) => add(second, city, "ann")));
  await second.close();
  const third = people(store);
  await add(third, "paris", "ann");
  await add(third, "paris", "bob");
  expect(await second.dropped("orders").catch((error: Error) => error.message)).toContain("open hub");
  expect((await third.dropped("orders")).overLimit).toBe(3); // two before the restart
  await third.advance(TEN + 1000);
  const count = async (city: string) =>
    Math.round((await third.between("orders", city, TEN, TEN + 1000)).value!);
  expect([await count("berlin"), await count("paris")]).toEqual([2, 2]); // ann twice in Berlin, bob twice in Paris
  expect((await third.statement("orders", "paris")).unit).toBe("one person, per day (UTC)");
});

test("no id, and nothing that was hashed without a key, is in what is stored", async () => {
  const store = plainStore();
  const hub = people(store);
  await hub.add("orders", "berlin", 1, { person: "ann@example.org" });
  await hub.close();
  const all = [...store.snapshots]
    .map(([name, { bytes }]) => name + Buffer.from(bytes).toString("latin1"))
    .join();
  expect(all).not.toContain("ann@example.org");
});

test.each([
  [{ person: "" }, "person: expected text of 1 to 4096 characters"],
  [{ person: "x".repeat(2 ** 20) }, "person: expected text of 1 to 4096 characters"],
  [{}, "person: expected text of 1 to 4096 characters"],
  [{ person: "ann", at: "yesterday" }, "at: expected a Date, ISO text with a time zone, or milliseconds"],
  [{ person: "ann", at: NaN }, "at: expected a Date"],
])(
  "an event that makes no sense is refused, and nothing of it is quoted: case %#",
  async (event, message) => {
    const hub = people();
    const error = await hub.add("orders", "berlin", 1, event).catch((reason: Error) => reason);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toMatch(/xxx|ann|yesterday/);
  },
);

test("an id where people are not counted is refused", async () => {
  const hub = openHub({ metrics: { orders: { ...exact, of: "count", keys } } });
  await expect(hub.add("orders", "berlin", 1, { person: "ann" })).rejects.toThrow("person: expected none");
});
