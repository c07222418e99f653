/** What do a hold-out, a whole release and the first range after a tree cost at the defaults? Opponents: the other core; the next range. */
import { zooStream } from "../research/zoo/zoo.js";
import { chooseCore } from "../src/core/choose.js";
import { privateStream, type System } from "../src/index.js";
import { makeChoice } from "../src/stream/holdout/choice.js";
import { ThresholdCounts } from "../src/stream/holdout/thresholdCounts.js";
import { measure, type Row } from "./harness.js";

const [HELD, COUNT, TREE] = [65_536, 2 ** 20, 65_536];
const values = zooStream("exponential", HELD + COUNT);

const begun = (core: "wasm" | "js"): System =>
  privateStream({ epsilon: 0.1, max: 2000, core, unsafeSeed: "release" });

const held = values.slice(0, HELD);

const holdOut = (core: "wasm" | "js") => (): number => begun(core).pushMany(held).length;

const holdOutEach = (core: "wasm" | "js") => (): number => {
  const stream = begun(core);
  for (let i = 0; i < HELD; i++) stream.push(held[i]!);
  return stream.length;
};

/** The choice of the default rule for max 2000, on its grid of 1/32. */
const choice = makeChoice(0.1, HELD, COUNT, 2000 * 32, 32);

const count = (core: "wasm" | "js") => (): void =>
  new ThresholdCounts(choice).addMany(chooseCore(core), held, HELD, 2000, 1 / 32);

const release = (core: "wasm" | "js") => (): number => begun(core).pushMany(values).length;

export async function* rows(): AsyncGenerator<Row> {
  yield await measure({
    path: "release",
    case: "65 536 held-out values counted by class and candidate",
    wasm: count("wasm"),
    js: count("js"),
  });
  yield await measure({
    path: "release",
    case: "65 536 values held out in one batch, all defaults",
    wasm: holdOut("wasm"),
    js: holdOut("js"),
  });
  yield await measure({
    path: "release",
    case: "65 536 values held out one at a time, all defaults",
    wasm: holdOutEach("wasm"),
    js: holdOutEach("js"),
  });
  yield await measure({
    path: "release",
    case: "65 536 values held out and 2²⁰ published in one batch, all defaults",
    wasm: release("wasm"),
    js: release("js"),
  });
  const stream = begun("wasm");
  stream.pushMany(values);
  const range = () => stream.range(stream.length - 2 ** 20 + 100, stream.length - 100).sum;
  yield await measure({
    path: "release",
    case: "the first range after a tree has ended, which shrinks it (limit: the next range)",
    wasm: { prepare: () => void stream.pushMany(values.subarray(0, TREE)), run: range },
    limit: range,
  });
}
