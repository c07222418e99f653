/**
 * One answer per kernel on a fixed key, as text that shows every bit. The same function runs in Node and in
 * Chromium, on both cores; all answers must be equal.
 */
import { chooseCore, type CoreChoice } from "../../src/core/choose.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeTransition } from "../../src/core/tables/transition.js";

export function kernelAnswers(choice: CoreChoice): Record<string, string> {
  const core = chooseCore(choice);
  const random = () => subStream(unsafeKey("browser"), Purpose.baseline, 7, 2 ** 40 + 1);
  const scale = makeScale(1n << 20n, 3n);

  const words = new Uint32Array(100);
  core.keystream(random(), words);
  const geometric = new Float64Array(200);
  core.geometric(random(), makeScale(1n, 3n), geometric);
  const laplace = new Float64Array(200);
  core.laplace(random(), scale, laplace);
  const race = makeSelection({
    candidates: 4096,
    step: 1,
    holdout: 2000,
    epsilon: 0.5,
    releaseEpsilon: 5,
    maxRange: 4096,
    fanout: 16,
    noise: "exponential",
  });
  const bins = Uint16Array.from({ length: 2000 }, (_, i) => (i * i * 31) % 1500);
  const draws = random();
  const winners = Float64Array.from({ length: 20 }, () => core.noisyMax(draws, bins, race));
  const tree = core.growTree(random(), scale, 16, 3);
  const estimates = new Float64Array(16 * 21).fill(1 / 16, 0, 16);
  const counts = Float64Array.from({ length: 16 }, (_, i) => 100 + ((i * 37) % 11));
  core.emSteps(makeTransition(16, 64, 6, 0.002, 0.0005), counts, true, estimates, new Float64Array(16 * 20));

  const answers = { words, geometric, laplace, winners, ...tree, estimates };
  const asText = Object.entries(answers).map(([kernel, array]) => [kernel, bits(array)] as const);
  return { core: core.name, ...Object.fromEntries(asText) };
}

const bits = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  Array.from(new Uint8Array(buffer, byteOffset, byteLength), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
