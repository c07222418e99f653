/**
 * The unit of fuzzing: a fixed number of operations, a function of (seed, episode) alone. So any episode can be run again,
 * and any split of them over processes, machines and days makes the same operations.
 *
 * An operation is one call on both cores whose results are compared in every bit: a batch is one, however long.
 */
import { driveDays } from "./days.js";
import { Dice } from "./dice.js";
import { driveEvents } from "./events.js";
import { driveKernel } from "./kernels.js";
import { driveLocal } from "./local.js";
import { driveStreams } from "./streams.js";
import { Tally } from "./tally.js";

/** Most calls go to streams, which are cheap to call and have most states. */
const STREAMS = 4000;
const KERNEL = 48;
const LOCAL = 48;
export const EPISODE = STREAMS + KERNEL + LOCAL;
/** Streams of events take a part of that in one episode of so many: enough calls at a time to see hold-outs and days end. */
const EVENTS = 320;
const EVENTS_ONE_IN = 4;
/** Days of devices take another part in one of so many. */
const DAYS = 96;
const DAYS_ONE_IN = 8;

/** @throws at the first difference, with the command that makes it again */
export async function runEpisodes(seed: number, first: number, count: number): Promise<Tally["counts"]> {
  const tally = new Tally();
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // bad input is an operation too, and its stack would take most of its time
  for (let episode = first; episode < first + count; episode++) {
    try {
      const dice = new Dice(seed, episode);
      const events = episode % EVENTS_ONE_IN === 0 ? EVENTS : 0;
      const days = episode % DAYS_ONE_IN === 1 ? DAYS : 0;
      await driveStreams(dice, STREAMS - events - days, tally);
      await driveEvents(dice, events, tally);
      driveKernel(dice, KERNEL, tally);
      await driveLocal(dice, LOCAL, tally);
      await driveDays(dice, days, tally);
    } catch (reason) {
      Error.stackTraceLimit = stackTraceLimit;
      const command = `npm run fuzz -- --seed ${seed} --episode ${episode} --operations ${EPISODE}`;
      throw new Error(`${(reason as Error).message}; again: ${command}`, { cause: reason });
    }
  }
  Error.stackTraceLimit = stackTraceLimit;
  return tally.counts;
}
