/** brume demo: both systems of the paper on one built-in stream, and what the kernels are worth on this machine. */
import { bold } from "./colour.js";
import type { Command } from "./command.js";
import { type Central, releaseCentral, showCentral } from "./demoCentral.js";
import { type Local, releaseLocal, showLocal } from "./demoLocal.js";
import { type HotPath, measureHotPaths, showHotPaths } from "./demoSpeed.js";
import { exampleStream } from "./example.js";
import { SUMMARIES } from "./summaries.js";

/** Output of `brume demo --json`. */
export interface Demo {
  readonly tops: Central;
  readonly topl: Local;
  readonly hotPaths: readonly HotPath[];
}

export const demo: Command = {
  name: "demo",
  operands: "",
  summary: `${SUMMARIES.demo}\nThree screens: ToPS (a server that is trusted), ToPL (devices that trust nobody), and the time of each WASM kernel\nbeside its TypeScript twin, measured in this run.`,
  options: {
    epsilon: { value: "E", help: "privacy budget ε of ToPS (0.1)" },
    "local-epsilon": { value: "E", help: "privacy budget ε of every report in ToPL (1)" },
    json: { help: "one JSON object instead of pictures and tables" },
  },
  example: "brume demo --epsilon 0.05",
  async run(args) {
    const [epsilon, localEpsilon] = [args.number("epsilon") ?? 0.1, args.number("local-epsilon") ?? 1];
    const values = exampleStream("brume");
    const tops = releaseCentral(values, epsilon);
    const topl = await releaseLocal(values, localEpsilon);
    if (!args.has("json")) console.log(`${showCentral(tops)}\n\n${showLocal(topl)}\n`);
    const hotPaths = measureHotPaths(values);
    if (args.has("json")) console.log(JSON.stringify({ tops, topl, hotPaths } satisfies Demo));
    else
      console.log(
        `${showHotPaths(hotPaths)}\n\n${bold("brume explain --demo")} says what both releases promise, and what they do not protect.`,
      );
  },
};
