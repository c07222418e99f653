import { expect, test } from "vitest";
import { PaperAggregator } from "../../../src/local/paper/paperAggregator.js";
import { reportsOf, skewed } from "../../support/localValues.js";

const OPTIONS = { epsilon: 1, max: 1000, holdout: 500, maxRange: 4096 };

test("the text says of θ whether it is chosen, was given, or what it hides", async () => {
  const server = new PaperAggregator(OPTIONS);
  expect(server.explain()).toContain("θ is not chosen yet");
  expect(new PaperAggregator({ ...OPTIONS, threshold: 500 }).explain()).toContain(
    "Values above θ = 500 are clamped to θ; θ was given",
  );
  server.learn(reportsOf(skewed(500, "text"), "text"));
  await server.threshold();
  expect(server.explain()).toMatch(/are clamped to θ; that is expected to hide \S+ of a value on average/);
});
