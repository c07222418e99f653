/**
 * One answer per kernel on a fixed key, as text that shows every bit. The same function runs in Node and in
 * Chromium, on both cores; all answers must be equal.
 */
import { chooseCore, type CoreChoice } from "../../src/core/choose.js";
import { Stage, subStream, unsafeKey } from "../../src/core/random.js";

export function kernelAnswers(choice: CoreChoice): Record<string, string> {
  const core = chooseCore(choice);
  const random = () => subStream(unsafeKey("browser"), Stage.baseline, 7, 2 ** 40 + 1);
  const words = new Uint32Array(100);
  core.keystream(random(), words);
  return { core: core.name, keystream: bits(words) };
}

const bits = (array: Uint32Array | Float64Array): string =>
  Array.from(new Uint8Array(array.buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
