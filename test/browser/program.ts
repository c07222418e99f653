/**
 * What a user's program does with the package, wherever it runs: handed the module, gives back plain data.
 * Runs in plain pages and workers, in an app built by Vite, and in Node for comparison.
 */
export function program(brume: typeof import("../../src/index.js")) {
  const core = brume.chooseCore();
  const words = new Uint32Array(40);
  core.keystream({ key: new Uint32Array(8).fill(9), nonce: new Uint32Array(3), position: 5 }, words);
  return { core: core.name, words: Array.from(words) };
}
