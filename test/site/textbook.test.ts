/** The attack on textbook noise is sound: what it calls impossible is, and it proves nothing about Brume. */
import { expect, test } from "vitest";
import { trueSum } from "../../site/src/attack/game.js";
import { Breaker, brume, textbook } from "../../site/src/attack/textbook.js";

test("each output of textbook noise is possible in its own world: no false alarm in 20,000", () => {
  for (const epsilon of [0.1, 1, 8]) {
    const mechanism = textbook(60 / epsilon);
    for (let i = 0; i < 20_000; i++) {
      const which = i % 2 ? 1 : 0;
      const output = mechanism.release(which);
      if (!mechanism.isPossible(output, trueSum(which))) expect.fail(`${output} came from world ${which}`);
    }
  }
});

test("an output that is one bit off is impossible, as far as noise is not small", () => {
  const mechanism = textbook(60);
  const far = trueSum(0) + 300; // doubles are 2⁻⁴⁴ apart, and one in about 17 is hit
  let possible = 0;
  for (let i = 0; i < 1000; i++) if (mechanism.isPossible(far + i * 2 ** -44, trueSum(0))) possible++;
  expect(possible).toBeGreaterThan(20);
  expect(possible).toBeLessThan(200);
});

test("it shows ε far above the promise against the textbook, and nothing against Brume", () => {
  const run = (breaker: Breaker, runs: number) => {
    for (let i = 0; i < runs; i++) breaker.once(i % 2 ? 1 : 0);
    return breaker.findings();
  };
  // 16 % of the outputs give their world away: fewer than 12 % of 10,000 have odds below 10⁻²⁰.
  const broken = run(new Breaker(textbook(60)), 10_000);
  expect(broken.given).toBeGreaterThan(1200);
  expect(broken.epsilon).toBeGreaterThan(4.5);
  const held = run(new Breaker(brume(1)), 2000);
  expect([held.given, held.epsilon]).toEqual([0, 0]);
});
