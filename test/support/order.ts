/**
 * The order of test files in a full run. Without it they run one project after the other: browsers, which wait half of
 * the time, beside browsers, and statistics beside statistics. Those that take longest come first, so that none of them
 * is still running when all others are done; the rest of the projects is mixed.
 *
 * How long they take is measured: a full run with BRUME_TEST_DURATIONS=1 writes durations.json. A file that it does not
 * name is taken for a short one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";

const FILE = new URL("durations.json", import.meta.url);
/** Seconds. Shorter ones have no place of their own. */
const LONG = 10;

export class Order extends BaseSequencer {
  /**
   * The longest first. Then projects that give each file a process of its own, at the pace that makes them end together,
   * and last those whose files share one: it is kept from file to file only while the next one is of the same project.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, number>>;
    const sorted = await super.sort(files);
    const place = new Map<TestSpecification, number>();
    for (const project of new Set(sorted.map((file) => file.project))) {
      const own = sorted.filter((file) => file.project === project);
      own.forEach((file, i) => place.set(file, project.config.isolate ? (i + 1) / own.length : 2));
    }
    for (const file of sorted) {
      const seconds = durations[relative(this.ctx.config.root, file.moduleId)];
      if (seconds !== undefined) place.set(file, -seconds);
    }
    return sorted.sort((a, b) => place.get(a)! - place.get(b)!);
  }
}

/** Writes which files of a full run took long, in seconds. */
export const durationsReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const long = modules
      .map((module) => [module.relativeModuleId, Math.round(module.diagnostic().duration / 1000)] as const)
      .filter(([, seconds]) => seconds >= LONG)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(long), null, 2)}\n`);
  },
};
