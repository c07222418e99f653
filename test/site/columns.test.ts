/** The lab's columns, in Node: drawn from the answer of the moment, and again when their block is finished. */
import { expect, test, vi } from "vitest";
import { announcer } from "../../site/src/look/announce.js";
import { readState } from "../../site/src/look/state.js";
import { FIELDS, releaseSettings } from "../../site/src/play/state.js";
import { Player } from "../../site/src/workers/player.js";
import { exampleStream } from "../../src/cli/example.js";

const values = exampleStream("brume", 2 ** 16 + 2 ** 17);
const settings = releaseSettings(readState(FIELDS, "maxRange=131072"));

test("however the stream came in, finished columns are those of a stream that came at once", () => {
  const slow = new Player(values, settings, 7200);
  for (let at = 0; at < values.length; at += 3333) slow.advance(at);
  slow.advance(values.length);
  const fast = new Player(values, settings, 7200);
  fast.advance(values.length);
  expect(slow.frame()).toEqual(fast.frame());
});

test("a column whose block still runs changes when the block is finished", () => {
  const player = new Player(values, settings, 7200);
  player.advance(70_000);
  const { blockLength } = player.publisher.statement();
  const ends = (x: number) => (x - settings.holdout) % blockLength === 0;
  const running = player.lines().x.findIndex((x) => x > 120_000 && !ends(x));
  const x = player.lines().x[running]!;
  player.advance(x);
  const before = player.lines();
  player.advance(settings.holdout + Math.ceil((x - settings.holdout) / blockLength) * blockLength);
  const after = player.lines();
  expect(after.private[running]).not.toBe(before.private[running]);
});

test("nothing has changed where no value came", () => {
  const player = new Player(values, settings, 7200);
  player.advance(settings.holdout);
  expect(player.advance(settings.holdout)).toBe(false);
});

test("a screen reader hears the newest sentence, at most every two seconds", () => {
  vi.useFakeTimers();
  const region = { textContent: "" } as HTMLElement;
  const say = announcer(region);
  say("one");
  say("two");
  say("three");
  expect(region.textContent).toBe("one");
  vi.advanceTimersByTime(1999);
  expect(region.textContent).toBe("one");
  vi.advanceTimersByTime(1);
  expect(region.textContent).toBe("three");
  vi.useRealTimers();
});
