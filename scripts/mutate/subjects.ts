/**
 * What is mutated, in groups, and the tests that are expected to notice: those that do so quickest come first. A file that is
 * not named here belongs to the group of its folder, with the test of its own name.
 */
import { existsSync, readdirSync } from "node:fs";

type Subjects = Readonly<Record<string, readonly string[]>>;

const text = ["core/text", "core/textEdits"];

const kernels: Subjects = {
  "assembly/blocks.ts": ["core/poisonedMemory", "core/threshold", "attacks/order"],
  "assembly/chacha.ts": ["core/poisonedMemory", "core/chacha", "core/laplace"],
  "assembly/consistency.ts": ["core/poisonedMemory", "core/consistency", "core/forest"],
  "assembly/digit.ts": ["core/poisonedMemory", "core/digit", "core/scale", "core/laplace"],
  "assembly/ingest.ts": ["core/poisonedMemory", "core/ingest", "attacks/sharedMemory"],
  "assembly/laplace.ts": ["core/poisonedMemory", "core/laplace", "core/forest"],
  "assembly/reader.ts": ["core/poisonedMemory", "core/reader", "core/laplace"],
  "assembly/reports.ts": ["core/poisonedMemory", "core/reports", "local/mechanisms"],
  "assembly/squareWave.ts": ["core/poisonedMemory", "core/squareWave", "local/em"],
  "assembly/text.ts": text,
  "assembly/textCsv.ts": text,
  "assembly/textJson.ts": text,
  "assembly/textPattern.ts": text,
  "assembly/textValues.ts": text,
  "assembly/threshold.ts": ["core/poisonedMemory", "core/threshold", "core/thresholdLaw", "attacks/order"],
  "src/core/batches.ts": ["core/checks", "attacks/reentry", "stream/stream"],
  "src/core/bytes.ts": ["stream/sealing", "core/checks"],
  "src/core/checks.ts": ["core/checks", "stream/stream", "attacks/reentry"],
  "src/core/given.ts": ["core/checks", "attacks/pollutedPrototype"],
  "src/core/layout.ts": [
    "core/chacha",
    "core/laplace",
    "core/reports",
    "core/threshold",
    "core/checks",
    ...text,
  ],
  "src/core/normal.ts": ["core/normal", "stream/ranges"],
  "src/core/quantise.ts": ["core/ingest", "stream/stream"],
  "src/core/random.ts": ["core/random", "core/chacha", "stream/snapshot", "golden"],
  "src/core/tree.ts": ["core/forest", "core/consistency"],
  "src/core/treeSlices.ts": ["core/forest", "stream/trees"],
  "src/core/js/blocks.ts": ["core/poisonedMemory", "core/threshold", "attacks/order"],
  "src/core/js/chacha.ts": ["core/poisonedMemory", "core/chacha", "core/laplace"],
  "src/core/js/consistency.ts": ["core/poisonedMemory", "core/consistency"],
  "src/core/js/digit.ts": ["core/digit", "core/scale", "core/laplace"],
  "src/core/js/forest.ts": ["core/poisonedMemory", "core/forest"],
  "src/core/js/ingest.ts": ["core/poisonedMemory", "core/ingest"],
  "src/core/js/laplace.ts": ["core/poisonedMemory", "core/laplace"],
  "src/core/js/reader.ts": ["core/poisonedMemory", "core/reader", "core/laplace"],
  "src/core/js/reports.ts": ["core/poisonedMemory", "core/reports"],
  "src/core/js/squareWave.ts": ["core/poisonedMemory", "core/squareWave"],
  "src/core/js/text.ts": text,
  "src/core/js/textCsv.ts": text,
  "src/core/js/textJson.ts": text,
  "src/core/js/threshold.ts": ["core/poisonedMemory", "core/threshold", "core/thresholdLaw"],
  "src/core/js/words.ts": ["core/poisonedMemory", "core/reader", "core/laplace", "core/scale"],
  "src/core/tables/alias.ts": ["core/digit", "core/scale", "core/laplace"],
  "src/core/tables/coin.ts": ["core/reader", "core/laplace"],
  "src/core/tables/fixedPoint.ts": ["golden", "core/scale", "core/laplace"],
  "src/core/tables/scale.ts": ["golden", "core/scale", "core/laplace"],
  "src/core/tables/sectors.ts": ["golden", "core/reports", "local/mechanisms"],
  "src/core/tables/selection.ts": ["golden", "core/threshold", "core/thresholdLaw", "stream/threshold"],
  "src/core/tables/transition.ts": ["core/squareWave", "local/em"],
  "src/core/wasm/chacha.ts": ["core/poisonedMemory", "core/chacha"],
  "src/core/wasm/forest.ts": ["core/poisonedMemory", "core/forest"],
  "src/core/wasm/ingest.ts": ["core/poisonedMemory", "core/ingest", "attacks/sharedMemory"],
  "src/core/wasm/instance.ts": ["attacks/sharedMemory", "core/laplace", "core/ingest", "stream/stream"],
  "src/core/wasm/laplace.ts": ["core/poisonedMemory", "core/laplace"],
  "src/core/wasm/reader.ts": ["core/poisonedMemory", "core/reader"],
  "src/core/wasm/reports.ts": ["core/poisonedMemory", "core/reports"],
  "src/core/wasm/squareWave.ts": ["core/poisonedMemory", "core/squareWave"],
  "src/core/wasm/text.ts": text,
  "src/core/wasm/threshold.ts": ["core/poisonedMemory", "core/threshold", "attacks/sharedMemory"],
};

const thresholds: Subjects = {
  "src/stream/choice.ts": ["stream/choice", "stream/classes", "stream/holdout"],
  "src/stream/classes.ts": ["stream/classes", "stream/holdout", "attacks/order"],
  "src/stream/holdout.ts": ["stream/holdout", "stream/stream", "stream/snapshot", "attacks/failedCalls"],
  "src/stream/holdoutStatement.ts": ["stream/statement", "stream/holdout", "stream/stream"],
  "src/stream/probe.ts": ["stream/probe", "stream/holdout", "stream/snapshot"],
  "src/stream/threshold.ts": ["stream/threshold", "stream/stream", "stream/snapshot"],
  "src/stream/warmStart.ts": ["stream/stream", "stream/snapshot", "stream/coverage"],
  "src/local/threshold.ts": ["local/threshold", "local/tails"],
  "src/local/tails.ts": ["local/tails", "local/threshold"],
  "src/stream/refine.ts": ["stream/refine", "stream/snapshot", "attacks/failedCalls"],
  "src/stream/follow.ts": ["stream/follow", "stream/snapshot", "attacks/failedCalls"],
  "src/events/threshold.ts": ["events/tally", "events/threshold", "events/stream", "events/privacy"],
};

const release: Subjects = {
  "src/stream/batch.ts": ["stream/stream", "events/stream", "attacks/failedCalls"],
  "src/stream/epsilonShares.ts": ["stream/refine", "stream/statement"],
  "src/stream/snapshotSequence.ts": ["stream/snapshot", "stream/sealing", "attacks/failedCalls"],
  "src/stream/treeCounts.ts": ["stream/treeCounts", "stream/hidden", "stream/follow"],
  "src/stream/treeSequence.ts": ["stream/follow", "stream/refine", "stream/stream", "attacks/failedCalls"],
  "src/stream/answer.ts": ["stream/answer", "stream/ranges", "stream/coverage"],
  "src/stream/binding.ts": ["stream/binding"],
  "src/stream/blockPublisher.ts": [
    "stream/stream",
    "stream/ranges",
    "events/stream",
    "stream/snapshot",
    "attacks/reentry",
  ],
  "src/stream/blocks.ts": ["stream/ranges", "stream/snapshot", "stream/stream", "attacks/failedCalls"],
  "src/stream/codec.ts": ["stream/codec", "stream/snapshot"],
  "src/stream/levels.ts": ["stream/limits", "stream/plan", "stream/stream"],
  "src/stream/noise.ts": ["stream/stream", "stream/coverage", "golden"],
  "src/stream/options.ts": [
    "stream/options",
    "stream/limits",
    "stream/holdout",
    "core/checks",
    "stream/stream",
  ],
  "src/stream/plan.ts": ["stream/limits", "stream/plan"],
  "src/stream/predictor.ts": ["stream/smoothers", "stream/snapshot", "stream/stream"],
  "src/stream/publisher.ts": ["stream/ranges", "stream/stream"],
  "src/stream/ranges.ts": ["stream/ranges", "stream/snapshot", "stream/shrink", "stream/coverage"],
  "src/stream/sealing.ts": ["stream/sealing", "stream/snapshot", "attacks/pollutedPrototype"],
  "src/stream/shape.ts": ["stream/limits", "core/checks", "stream/plan", "stream/holdout", "stream/stream"],
  "src/stream/shrink.ts": ["stream/shrink", "stream/shrunk"],
  "src/stream/snapshot.ts": ["stream/snapshot", "stream/sealing", "attacks/snapshotLength"],
  "src/stream/stagedSystem.ts": ["stream/stream", "attacks/failedCalls", "attacks/reentry"],
  "src/stream/statement.ts": ["stream/explain", "stream/statement", "stream/stream", "stream/holdout"],
  "src/stream/stream.ts": ["stream/stream", "stream/snapshot", "stream/holdout"],
  "src/stream/trees.ts": ["stream/trees", "stream/stream", "golden"],
  "src/stream/variance.ts": ["stream/variance", "stream/plan", "stream/coverage"],
  "src/stream/stretches.ts": ["stream/stretches", "stream/follow", "stream/ranges"],
  "src/stream/weights.ts": ["stream/weights", "stream/variance", "stream/coverage"],
  "src/stream/smoothers/custom.ts": ["stream/smoothers", "attacks/reentry", "attacks/failedCalls"],
  "src/stream/smoothers/exponential.ts": ["stream/smoothers", "stream/coverage"],
  "src/stream/smoothers/index.ts": ["stream/limits", "stream/smoothers", "core/checks"],
  "src/stream/smoothers/mean.ts": ["stream/smoothers", "stream/coverage"],
  "src/stream/smoothers/median.ts": ["stream/smoothers"],
  "src/stream/smoothers/moving.ts": ["stream/smoothers", "stream/coverage"],
  "src/stream/smoothers/recent.ts": ["stream/smoothers", "stream/coverage"],
  "src/stream/smoothers/shrunk.ts": ["stream/shrunk", "stream/smoothers"],
  "src/stream/smoothers/smoother.ts": ["stream/smoothers", "stream/snapshot"],
};

const reports: Subjects = {
  "src/local/aggregator.ts": [
    "local/paper/parts",
    "local/paper/merge",
    "local/intake",
    "local/aggregator",
    "attacks/localReports",
    "attacks/localServer",
  ],
  "src/local/dayAnswers.ts": ["local/aggregator"],
  "src/local/dayTallies.ts": ["local/aggregator"],
  "src/local/thetas.ts": ["local/aggregator"],
  "src/local/acceleratedEm.ts": ["local/emRules", "local/acceleratedEm"],
  "src/local/paper/answer.ts": ["local/paper/parts", "local/aggregator"],
  "src/local/band.ts": ["local/paper/parts", "local/band"],
  "src/local/channel.ts": ["local/paper/parts", "attacks/localServer", "local/reporter", "local/aggregator"],
  "src/local/em.ts": ["local/emRules", "local/em", "local/aggregator"],
  "src/local/intake.ts": ["local/intake", "attacks/localReports", "local/aggregator"],
  "src/local/mechanisms.ts": ["local/mechanisms", "core/reports"],
  "src/local/moments.ts": ["local/paper/parts", "local/mechanisms", "local/aggregator"],
  "src/local/report.ts": ["local/paper/parts", "local/reporter", "local/aggregator", "attacks/localServer"],
  "src/local/reporter.ts": ["local/reporter", "attacks/localServer", "attacks/localReports"],
  "src/local/paper/statement.ts": [
    "local/paper/parts",
    "local/paper/statement",
    "local/aggregator",
    "local/reporter",
  ],
  "src/local/paper/sums.ts": [
    "local/paper/parts",
    "local/paper/state",
    "local/paper/merge",
    "local/aggregator",
  ],
  "src/local/paper/recent.ts": ["local/paper/merge", "local/aggregator"],
  "src/local/paper/tally.ts": ["local/paper/parts", "local/paper/merge"],
  "src/local/paper/state.ts": ["local/paper/state", "local/paper/merge"],
  "src/local/percentiles.ts": ["local/percentileReference", "local/percentiles"],
  "src/local/estimate.ts": ["local/paper/parts", "local/estimate", "local/aggregator"],
  "src/local/paper/settings.ts": ["local/paper/parts", "local/aggregator"],
};

const hub = ["durable/hub", "durable/hubKeys", "attacks/durableStore"];
const stores = ["durable/stores/conformance", "durable/stores/file", "attacks/durableReader"];

const eventHub = ["parts", "eventHub", "holdout", "people", "keys", "badInput"].map(
  (name) => `durable/eventHub/${name}`,
);
const eventHubs = [...eventHub, "attacks/eventHubLoss", "attacks/eventHubFaults"];

const durable: Subjects = {
  "src/durable/budget.ts": ["attacks/durableBudget"],
  "src/durable/openHub.ts": ["durable/hub", "durable/workers"],
  "src/durable/checkedStore.ts": ["durable/checkedStore", "attacks/durableStore", "durable/hub"],
  "src/durable/committer.ts": ["durable/checkedStore", ...hub],
  "src/durable/durable.ts": [...hub, "durable/openEvents"],
  "src/durable/hub.ts": ["durable/liveStreams", ...hub],
  "src/durable/hubOptions.ts": ["durable/ledger", ...hub],
  "src/durable/ledger.ts": ["durable/ledger", "attacks/durableBudget"],
  "src/durable/liveStreams.ts": ["durable/liveStreams", ...hub],
  "src/durable/odometer.ts": ["durable/ledger", "attacks/durableBudget", "attacks/durableRollback"],
  "src/durable/openAggregator.ts": ["durable/openAggregator"],
  "src/durable/openEvents.ts": ["durable/openEvents"],
  "src/durable/openStream.ts": ["durable/hub", "attacks/durableRollback", "attacks/durableStore"],
  "src/durable/rekey.ts": ["attacks/durableRollback", "attacks/durableStore"],
  "src/durable/sharedThreshold.ts": ["durable/liveStreams", "durable/hubKeys", "durable/hub"],
  "src/durable/eventHub/batches.ts": ["durable/eventHub/batches", ...eventHubs],
  "src/durable/eventHub/eventHub.ts": eventHubs,
  "src/durable/eventHub/hubRecord.ts": eventHubs,
  "src/durable/eventHub/hubState.ts": eventHubs,
  "src/durable/eventHub/log.ts": eventHubs,
  "src/durable/eventHub/metricState.ts": eventHubs,
  "src/durable/eventHub/noiseKeys.ts": eventHubs,
  "src/durable/eventHub/options.ts": eventHubs,
  "src/durable/eventHub/records.ts": eventHubs,
  "src/durable/eventHub/sharedHoldout.ts": eventHubs,
  "src/durable/eventHub/states.ts": eventHubs,
  "src/durable/stores/file.ts": ["durable/stores/logStore", ...stores],
  "src/durable/stores/log.ts": ["durable/parts", ...stores],
  "src/durable/stores/logFolder.ts": ["durable/parts", ...stores],
  "src/durable/stores/memory.ts": ["durable/stores/conformance", "durable/hub"],
  "src/durable/stores/sqlite.ts": ["durable/stores/conformance"],
  "src/durable/stores/store.ts": ["durable/stores/conformance", "attacks/durableStore", "durable/hub"],
  "src/durable/workers/calls.ts": ["durable/liveStreams", "durable/workers"],
  "src/durable/workers/messages.ts": ["durable/liveStreams", "durable/workers"],
  "src/durable/workers/thread.ts": ["durable/workers"],
  "src/durable/workers/threadHandle.ts": ["durable/liveStreams", "durable/workers"],
  "src/durable/workers/workerHub.ts": ["durable/workers"],
};

const ticked = ["events/stream", "golden", "events/snapshots", "attacks/eventFaults", "attacks/eventReentry"];
const histogram = ["golden", "events/histogram", "events/snapshots", "attacks/eventFaults"];

const events: Subjects = {
  "src/events/answers.ts": ["events/parts", "events/stream", "events/histogram"],
  "src/events/bucketForests.ts": ["events/bucketForests", ...histogram],
  "src/events/bucketIndex.ts": ["events/bucketIndex", ...histogram],
  "src/events/buckets.ts": ["events/quantiles", "events/parts", "events/quantileReference", ...histogram],
  "src/events/derivedKey.ts": ["events/people", "events/snapshots", "golden"],
  "src/events/eventAnswer.ts": ["events/ratio", "events/stream", "events/coverage"],
  "src/events/histogram.ts": ["events/statement", ...histogram],
  "src/events/histogramAnswers.ts": ["events/parts", "events/histogram", "events/quantiles"],
  "src/events/histogramOptions.ts": ["events/settings", "events/options", ...histogram],
  "src/events/intake.ts": ["events/people", ...ticked],
  "src/events/open.ts": ticked,
  "src/events/openTicks.ts": ["events/parts", ...ticked],
  "src/events/options.ts": ["events/settings", "events/options"],
  "src/events/people.ts": ["events/peopleTable", "events/people", "events/privacy", "events/snapshots"],
  "src/events/plan.ts": ["events/parts", "stream/plan", "events/stream"],
  "src/events/quantiles.ts": ["events/quantiles", "events/quantileReference"],
  "src/events/ratio.ts": ["events/ratio", "events/stream", "events/coverage"],
  "src/events/siphash.ts": ["events/people"],
  "src/events/statement.ts": ["events/statement", "events/stream", "events/histogram"],
  "src/events/template.ts": ["durable/eventHub/eventHub", "durable/eventHub/holdout"],
  "src/events/tickedStream.ts": ["events/firstTicks", ...ticked, "events/privacy"],
  "src/events/ticks.ts": ["events/parts", "events/options", ...ticked],
  "src/events/waitingValues.ts": ["events/parts", ...ticked],
};

const NAMED: Readonly<Record<string, Subjects>> = { kernels, thresholds, release, reports, durable, events };

/** The group of a folder's files that no group names. */
const FOLDERS: Readonly<Record<string, string>> = {
  assembly: "kernels",
  "src/core": "kernels",
  "src/stream": "release",
  "src/local": "reports",
  "src/durable": "durable",
  "src/events": "events",
};

/** Tests that run for every file of a folder, before its own: they see most of what changes a number. */
const FIRST: Readonly<Record<string, string>> = { "src/stream": "stream/pinned" };

/** Files of these folders that are not mutated, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "assembly/index.ts": "a list of exports",
  "src/core/choose.ts": "which core runs depends on the platform",
  "src/core/core.ts": "types",
  "src/core/js/index.ts": "a list of methods",
  "src/core/unsafeKey.ts": "calls a library",
  "src/core/wasm/index.ts": "a list of methods",
  "src/core/wasmBytes.ts": "compiled from assembly/",
  "src/core/builtFrom.ts": "written by the build",
  "src/core/software.ts": "constants alone",
  "src/local/anyCoreReporter.ts": "a list of exports",
  "src/stream/system.ts": "types",
  "src/durable/stores/postgres.ts": "its tests start a server",
  "src/durable/stores/redis.ts": "its tests start a server",
  "src/durable/stores/storeTests.ts": "tests",
};

/** All files under the folders, by group, each with the tests that run for it. */
export function allSubjects(): Record<string, Record<string, string[]>> {
  const groups = Object.fromEntries(
    Object.keys(NAMED).map((name): [string, Record<string, string[]>] => [name, {}]),
  );
  for (const [folder, usual] of Object.entries(FOLDERS))
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = `${folder}/${path}`;
      if (!file.endsWith(".ts") || Object.hasOwn(LEFT_OUT, file)) continue;
      const group = Object.keys(NAMED).find((name) => Object.hasOwn(NAMED[name]!, file)) ?? usual;
      const tests = testsOf(file, NAMED[group]![file] ?? []);
      groups[group]![file] = [...new Set([...(folder in FIRST ? [FIRST[folder]!] : []), ...tests])];
    }
  return groups;
}

/** Those named that exist; else the test of the same name; else all tests of its layer. */
function testsOf(file: string, named: readonly string[]): string[] {
  const exists = (test: string) => existsSync(`test/${test}.test.ts`);
  const mirrored = file.replace(/^(src|assembly)\//, "").replace(/\.ts$/, "");
  const found = named.filter(exists);
  if (found.length > 0) return found;
  if (exists(mirrored)) return [mirrored];
  const folder = mirrored.includes("/") ? mirrored.split("/")[0]! : "core";
  return readdirSync(`test/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name.replace(/\.test\.ts$/, "")}`);
}
