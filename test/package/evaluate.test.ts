import { expect, test } from "vitest";
import { evaluate } from "../../research/evaluate.js";
import { evaluateInWorkers } from "../../research/evaluateInWorkers.js";
import { longTailedStream } from "../support/streams.js";

const options = {
  data: longTailedStream(500, 100, "workers"),
  max: 100,
  epsilons: [0.5, 2],
  methods: ["tops", "pak"],
  repeat: 3,
  queries: 20,
  holdout: 128,
  maxRange: 256,
  seed: "workers",
} as const;
const script = new URL("../../research/dist/evaluateWorker.js", import.meta.url);

test("worker threads measure what one thread measures", async () => {
  const told: number[] = [];
  const threads = await evaluateInWorkers(options, {
    workers: 2,
    script,
    progress: (done) => told.push(done),
  });
  const plain = ({ results, settings }: typeof threads) => ({
    settings: { ...settings, tile: false },
    results: results.map(({ seconds, ...rest }) => rest),
  });
  expect(plain(threads)).toEqual(plain(evaluate(options)));
  expect(told).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test("what fails in a thread fails here", async () => {
  await expect(evaluateInWorkers({ ...options, threshold: 1e9 }, { workers: 2, script })).rejects.toThrow(
    "threshold:",
  );
});
