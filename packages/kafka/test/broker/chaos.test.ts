/**
 * Workers as processes on a real broker, killed at any moment (about 70 s in all). Two more runs leave out one rule
 * each, and must be caught.
 */
import { expect, inject, test } from "vitest";

import {
  type ChaosOptions,
  dieBeforeCommit,
  freeze,
  freezeUntilReplaced,
  kill,
  runChaos,
  storm,
} from "../../chaos/run.js";
import { RIGHT } from "../support/workload.js";

const common = (name: string): Omit<ChaosOptions, "faults"> => ({
  ...{ brokers: inject("brokers"), program: inject("workerProgram"), name },
  ...{ partitions: 2, keys: 40, pace: 60, sessionTimeout: 2_000 },
});

test("kills, zombies and a rebalance storm: every position once, every number right", async () => {
  const faults = [
    kill,
    kill,
    dieBeforeCommit,
    kill,
    freeze,
    kill,
    kill,
    storm,
    kill,
    kill,
    freeze,
    kill,
    kill,
    kill,
  ];
  const result = await runChaos({ ...common("chaos"), faults });
  expect(result.verdict).toMatchObject(RIGHT);
  expect(result.verdict.committed).toBe(result.verdict.expected);
  expect(result.verdict.committed).toBeGreaterThan(1_000);
  expect(result.restarts).toBeGreaterThanOrEqual(10);
  expect(result.messages.filter((message) => /expected|not those/.test(message))).toEqual([]); // nothing was refused
});

test("without birth first, positions are seen with different numbers", async () => {
  const faults = Array.from({ length: 6 }, () => dieBeforeCommit);
  const births = { manyBirths: true, pace: 15 };
  const result = await runChaos({ ...common("no-birth-first"), ...births, faults, without: "birth-first" });
  expect(result.verdict.differing).toBeGreaterThan(0);
});

test("without fencing, a zombie publishes positions twice", async () => {
  // A worker that freezes while the group is rebalanced may wake with nothing in its hands: then another one tries.
  let doubled = 0;
  for (let attempt = 0; attempt < 4 && doubled === 0; attempt++) {
    const setting = { ...common(`no-fencing-${attempt}`), freezeWithin: 10_000 };
    const result = await runChaos({ ...setting, faults: [freezeUntilReplaced], without: "fencing" });
    doubled = result.verdict.doubled;
  }
  expect(doubled).toBeGreaterThan(0);
});
