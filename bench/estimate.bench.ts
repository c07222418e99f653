/** How long does a server wait for a distribution? Logarithms and stopping included. Opponent: the same steps in JavaScript. */
import { jsCore } from "../src/core/js/index.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { aggregator } from "../src/local/aggregator.js";
import { reporter } from "../src/local/anyCoreReporter.js";
import { measure, type Row } from "./harness.js";

const HOLDOUT = 65_536;
const MAX = 1000;

export async function* rows(): AsyncGenerator<Row> {
  const device = reporter({ epsilon: 1, max: MAX, phase: "learn", unsafeSeed: "bench" });
  const skewed = Float64Array.from(
    { length: HOLDOUT },
    (_, i) => -20 * Math.log(((i * 7919) % HOLDOUT) / HOLDOUT + 1e-6),
  );
  const reports = device.reportMany(skewed);
  const [wasm, js] = ([makeWasmCore().name, jsCore.name] as const).map((core) => {
    const server = aggregator({ epsilon: 1, max: MAX, holdout: HOLDOUT, core });
    server.learn(reports);
    return server;
  });
  const { updates } = await js!.distribution();
  yield await measure({
    path: "em-run",
    case: `distribution of ${HOLDOUT} reports, ε = 1, ${updates} updates`,
    wasm: () => wasm!.distribution(),
    js: () => js!.distribution(),
  });
}
