/** Five million operations in every run of the tests, in two files that run beside each other; `npm run fuzz` makes more. */
import { expect, test } from "vitest";
import { EPISODE, runEpisodes } from "../../scripts/fuzz/episode.js";

const OPERATIONS = 5_000_000;
const SHARDS = 2;
const EPISODES = Math.ceil(OPERATIONS / EPISODE / SHARDS);
const SEED = 20261116;

/** Operations and states that every shard must cover. */
const DRIVEN = [
  ...[
    "push",
    "pushMany",
    "range",
    "published",
    "bad input",
    "snapshot and restore",
    "options refused",
    "statement",
  ],
  ...["hold-out crossed", "forest crossed", "forest forgotten", "variant default", "variant paper"],
  ...["recent", "mean", "median", "moving", "exponential", "own"].map((name) => `smoother ${name}`),
  ...[0, 1, 2, 3].map((levels) => `skipLevels ${levels}`),
  ...["report", "reportMany", "take reports", "distribution", "threshold", "local range"],
  ...["window report", "terms", "days", "window tally", "merge days", "days statement"],
  ...["days distribution", "add reports", "θ of a day chosen"],
  ...["event", "advance", "between", "histogram between", "last", "series", "bad event"],
  ...["event snapshot and restore", "missed periods", "event options refused", "limit of a person met"],
  ...["sum", "mean", "count", "histogram", "θ chosen", "k chosen", "a person's sum", "per hour"].map(
    (name) => `events: ${name}`,
  ),
  ...["events: a day ended", "events: not 24 hours"],
  ...["keystream", "samples", "trees", "days", "noisyMax", "reports", "emSteps", "ingest"].map(
    (name) => `kernel ${name}`,
  ),
];

/** @param index 0 or 1 */
export function shard(index: number): void {
  const first = index * EPISODES;
  const title = `seed ${SEED}, episodes ${first} to ${first + EPISODES - 1}: ${EPISODES * EPISODE} operations, the same bits on both cores`;
  test(
    title,
    async () => {
      const counts = await runEpisodes(SEED, first, EPISODES);
      expect(DRIVEN.filter((name) => !counts[name])).toEqual([]);
    },
    1_800_000,
  ); // some 15 seconds of one idle core, but nothing is wrong with a machine that is busy
}
