/**
 * The order of test files in a full run. Without it they run one project after the other: browsers, which wait half of
 * the time, beside browsers, and statistics beside statistics. Those that take longest come first, so that none of them
 * is still running when all others are done; the rest of the projects is mixed.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** 15 seconds and more, those that wait among those that compute. */
const LONGEST = [
  ...["test/events/coverage", "packages/kafka/test/broker/chaos", "packages/server/test/kill"],
  ...["test/stream/privacyLoss", "packages/server/test/availability", "test/research/audit"],
  ...["test/package/platforms", "test/attacks/eventHubFaults", "test/package/reproducible"],
  ...["test/site/whole", "test/research/accuracy", "test/site/pages", "test/attacks/eventFaults"],
  ...["packages/server/test/browser/dashboard", "test/stream/coverageAny", "test/site/files"],
  ...["test/fuzz/shard0", "test/fuzz/shard1", "test/fuzz/shard2", "test/fuzz/shard3", "test/site/play"],
  ...[
    "test/examples/demo",
    "packages/server/test/memoryFaults",
    "test/fuzz/countedOnce",
    "test/site/timeline",
  ],
  ...["packages/server/test/security", "test/stream/coverage", "test/attacks/openPaperAggregatorFaults"],
  ...["test/core/poisonedMemory", "test/attacks/storedTwice", "test/research/opponents/audit"],
  ...["test/durable/kill", "test/package/release", "test/adapters/text", "test/package/package"],
  ...["test/core/thresholdLaw"],
].map((path) => `${path}.test.ts`);

export class Order extends BaseSequencer {
  /**
   * The longest first. Then projects that give each file a process of its own, at the pace that makes them end together,
   * and last those whose files share one: it is kept from file to file only while the next one is of the same project.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = new Map<TestSpecification, number>();
    for (const project of new Set(sorted.map((file) => file.project))) {
      const own = sorted.filter((file) => file.project === project);
      own.forEach((file, i) => place.set(file, project.config.isolate ? (i + 1) / own.length : 2));
    }
    for (const file of sorted) {
      const rank = LONGEST.indexOf(relative(this.ctx.config.root, file.moduleId));
      if (rank >= 0) place.set(file, rank - LONGEST.length);
    }
    return sorted.sort((a, b) => place.get(a)! - place.get(b)!);
  }
}
