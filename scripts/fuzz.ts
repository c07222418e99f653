/**
 * Drives both cores with random operations and compares every bit:
 *
 *     npm run fuzz -- --operations 1e7 [--seed S] [--episode I]
 *
 * An operation is one call on both cores. A difference is reported with its seed and episode, which run it again.
 */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Dice } from "./fuzz/dice.js";
import { kernelEpisode } from "./fuzz/kernels.js";
import { publisherEpisode } from "./fuzz/publisher.js";

export interface FuzzOptions {
  /** Stops after the episode that reaches it. */
  readonly operations: number;
  /** 32 bits. */
  readonly seed: number;
  /** The first episode. Default 0. */
  readonly episode?: number;
  readonly progress?: (operations: number) => void;
}

/** @returns operations done */
export async function fuzz({ operations, seed, episode = 0, progress }: FuzzOptions): Promise<number> {
  let done = 0;
  for (; done < operations; episode++) {
    const dice = new Dice(seed, episode);
    try {
      done += dice.chance(0.5) ? await publisherEpisode(dice) : kernelEpisode(dice);
    } catch (reason) {
      throw new Error(`fuzz --seed ${seed} --episode ${episode}: ${(reason as Error).message}`, {
        cause: reason,
      });
    }
    progress?.(done);
  }
  return done;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "1e7" },
      seed: { type: "string" },
      episode: { type: "string", default: "0" },
    },
  });
  const seed =
    values.seed === undefined ? crypto.getRandomValues(new Uint32Array(1))[0]! : Number(values.seed);
  const operations = Number(values.operations);
  console.log(`seed ${seed}, ${operations} operations`);
  const started = performance.now();
  let shown = started;
  const done = await fuzz({
    operations,
    seed,
    episode: Number(values.episode),
    progress(count) {
      if (performance.now() - shown < 10_000) return;
      shown = performance.now();
      console.log(`${count} operations, ${Math.round((shown - started) / 1000)} s`);
    },
  });
  console.log(`${done} operations, ${Math.round((performance.now() - started) / 1000)} s: no bit differs`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
