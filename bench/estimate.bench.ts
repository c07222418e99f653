/** How long does a server wait for an estimate? Logarithms and stopping included. Opponents: the same in JavaScript, and plain EM. */
import { jsCore } from "../src/core/js/index.js";
import { makeTransition } from "../src/core/tables/transition.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { acceleratedEstimate } from "../src/local/acceleratedEm.js";
import { PaperAggregator } from "../src/local/paper/paperAggregator.js";
import { reporter } from "../src/local/anyCoreReporter.js";
import { estimate } from "../src/local/em.js";
import { BINS, squareWave } from "../src/local/mechanisms.js";
import { cellProbabilities } from "../src/local/moments.js";
import { unpackReport } from "../src/local/report.js";
import { measure, type Row } from "./harness.js";

const HOLDOUT = 65_536;
const MAX = 1000;
const MORE = 6_554;

export async function* rows(): AsyncGenerator<Row> {
  const device = reporter({ variant: "paper", epsilon: 1, max: MAX, phase: "learn", unsafeSeed: "bench" });
  const skewed = Float64Array.from(
    { length: HOLDOUT + MORE },
    (_, i) => -20 * Math.log(((i * 7919) % HOLDOUT) / HOLDOUT + 1e-6),
  );
  const reports = device.reportMany(skewed);
  yield await emRun(reports);
  const [wasm, js] = ([makeWasmCore().name, jsCore.name] as const).map((core) => {
    const server = new PaperAggregator({ epsilon: 1, max: MAX, holdout: HOLDOUT + MORE, core });
    server.learn(reports.subarray(0, 8 * HOLDOUT));
    return server;
  });
  const from = await js!.distribution();
  for (const server of [wasm!, js!]) server.learn(reports.subarray(8 * HOLDOUT));
  const start = { from: { shares: new Float64Array(BINS).fill(1) } };
  yield await measure({
    path: "em-again",
    case: `distribution with its tail models, ${MORE} reports more; naive: from the uniform start`,
    wasm: () => wasm!.distribution({ from }),
    js: () => js!.distribution({ from }),
    naive: () => wasm!.distribution(start),
  });
}

/** EM alone, from the uniform start until it stops gaining. */
async function emRun(reports: Uint8Array): Promise<Row> {
  const mechanism = squareWave(1);
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const counts = new Float64Array(BINS);
  const binCells = (mechanism.top + mechanism.width + 1) / BINS;
  for (let i = 0; i < HOLDOUT; i++) counts[Math.floor(unpackReport(reports, 8 * i)!.cell / binCells)]!++;
  const uniform = new Float64Array(BINS).fill(1 / BINS);
  const [wasm, js] = [makeWasmCore(), jsCore].map(
    (core) => (estimates: Float64Array, predicted: Float64Array) =>
      core.emSteps(transition, counts, false, estimates, predicted),
  );
  const [plain, fast] = [await estimate(wasm!, counts), await acceleratedEstimate(wasm!, counts, uniform)];
  return measure({
    path: "em-run",
    case: `EM of ${HOLDOUT} reports, ε = 1, ${fast.updates} updates; naive: plain EM, ${plain.updates} updates`,
    wasm: () => acceleratedEstimate(wasm!, counts, uniform),
    js: () => acceleratedEstimate(js!, counts, uniform),
    naive: () => estimate(wasm!, counts),
  });
}
