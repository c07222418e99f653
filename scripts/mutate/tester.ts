/**
 * Runs tests of the project in the working folder again and again, in one process, so that files which did not change are
 * compiled once. The parent sends which files changed and which tests to run; the answer is the first that failed.
 */
import { resolve } from "node:path";
import { createVitest } from "vitest/node";

export interface Order {
  readonly changed: readonly string[];
  /** In this order, up to the first that fails. */
  readonly tests: readonly string[];
}

const vitest = await createVitest("test", {
  watch: false,
  project: ["quick", "slow", "alone"],
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
});

/** The first thing that fails; undefined if nothing does. */
async function failure({ changed, tests }: Order): Promise<string | undefined> {
  for (const file of changed) vitest.invalidateFile(resolve(file));
  for (const test of tests) {
    const path = resolve(test);
    const found = (await vitest.globTestSpecifications([path])).filter(({ moduleId }) => moduleId === path);
    if (found.length === 0) throw new Error(`no test file ${path}`);
    vitest.state.filesMap.clear(); // what failed before neither counts nor ends this run
    vitest.state.idMap.clear();
    vitest.state.errorsSet.clear();
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(found);
    if (unhandledErrors.length > 0) return String(unhandledErrors[0]);
    for (const module of testModules) {
      if (module.ok()) continue;
      const [failed] = module.children.allTests("failed");
      const errors = failed?.result().errors ?? module.errors();
      return `${failed?.fullName ?? test}: ${errors[0]?.message ?? "it fails"}`;
    }
  }
  return undefined;
}

process.on("message", (order: Order) => {
  failure(order).then(
    (failed) => process.send!({ failed }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.send!({ ready: true });
