/** All runs of the protocol: two workers, one partition, three values, three crashes anywhere (about 5 s in all). */
import { expect, test } from "vitest";

import { ALL_RULES, explore } from "../model/protocol.js";

test("no run breaks a promise", () => {
  const { broken, states, finished } = explore(ALL_RULES, 3, 3);
  expect([...broken]).toEqual([]);
  expect(states).toBeGreaterThan(20_000);
  expect(finished).toBeGreaterThan(1_000); // the promises are not kept by doing nothing
});

test.each([
  ["birthFirst", "different numbers seen"],
  ["fencing", "published twice"],
  ["atomic", "published twice"],
  ["rereads", "published twice"],
] as const)("without the rule %s, some run is broken: %s", (rule, failure) => {
  expect([...explore({ ...ALL_RULES, [rule]: false }, 2, 1).broken]).toContain(failure);
});
