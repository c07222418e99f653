import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { durationsReporter, Order } from "./test/support/order.js";

/** .ci/run asks for a machine-readable copy of the result here. */
const report = process.env["BRUME_TEST_REPORT"];
/** Writes how long the files of this run took: test/support/order.ts goes by it. */
const measures = process.env["BRUME_TEST_DURATIONS"] !== undefined;

/** These look at the build and need it packed, installed and a browser; all others run on the sources alone. */
const built = [
  "test/package/**/*.test.ts",
  "{test,packages/*/test}/browser/**/*.test.ts",
  "test/site/**/*.test.ts",
];

/** These need a Kafka broker, which their set-up starts. */
const onBroker = ["packages/*/test/broker/**/*.test.ts"];

/** Each of these has a process to itself: they break what others share, or start processes and servers. */
const alone = [
  "test/**/*.alone.test.ts",
  "test/{attacks,examples,fuzz}/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
];

/** A second and more each: statistics, large inputs, every store. `npm run test:quick` leaves them out, and those above. */
const slow = ["test/**/*.slow.test.ts", "test/research/**/*.test.ts"];

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // What the site and the packages import.
  resolve: {
    alias: [
      { find: /^brume-research$/, replacement: source("research/index.ts") },
      { find: /^brume-research\/cli$/, replacement: source("research/cli/index.ts") },
      { find: /^brume\/node$/, replacement: source("src/node.ts") },
      { find: /^brume$/, replacement: source("src/index.ts") },
    ],
  },
  test: {
    // Tests end by themselves; these limits are for what hangs, even on a machine busy with other things.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One more than there are cores: some wait for a browser, a broker or a process that was killed.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: Order },
    slowTestThreshold: 5_000,
    setupFiles: ["test/support/plainOutput.ts"],
    reporters: ["default", ...(report ? ["json"] : []), ...(measures ? [durationsReporter] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
    projects: [
      {
        extends: true,
        // Threads start sooner than processes, and files that share one import the library once: half of the time of tests
        // this short.
        test: {
          name: "quick",
          pool: "threads",
          isolate: false,
          setupFiles: ["test/support/kernelConstants.ts"],
          include: ["test/**/*.test.ts"],
          exclude: [...built, ...alone, ...slow],
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          isolate: false,
          setupFiles: ["test/support/kernelConstants.ts"],
          include: slow,
        },
      },
      { extends: true, test: { name: "alone", include: alone, exclude: [...onBroker, ...built] } },
      {
        extends: true,
        test: { name: "built", include: built, globalSetup: ["test/package/setup.ts"] },
      },
      {
        extends: true,
        test: { name: "kafka", include: onBroker, globalSetup: ["packages/kafka/test/broker/setup.ts"] },
      },
    ],
  },
});
