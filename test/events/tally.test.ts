/** The choice of θ among events, made a second time from all events at once. */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { Stage, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { ThresholdTally } from "../../src/events/threshold.js";
import { chooseCandidate, makeChoice, steepness } from "../../src/stream/choice.js";
import { Decoder, Encoder } from "../../src/stream/codec.js";
import { resolveSettings } from "../../src/stream/options.js";

const settings = resolveSettings({
  ...{ epsilon: 0.5, max: 1000, threshold: 1000, holdout: 0, maxRange: 4096 },
  tuning: { resolution: 2 },
});
const core = chooseCore("js");
const TICKS = 64;

/** Events of any number in a tick, also none, and of any size, also above max. */
const events = Array.from({ length: 900 }, (_, i) => ({
  tick: Math.floor(((i * 37) % 900) / 14) % TICKS,
  value: Math.floor(1500 / (1 + ((i * 389) % 900))) + (i % 3),
}));

function byTheText(key: Uint32Array, perTick: number): number {
  const choice = makeChoice(0.5, TICKS * perTick, 4096 * perTick, 500);
  const units = ({ value }: { value: number }) => Math.floor(Math.min(value, 1000) / 2 + 0.5);
  const above = (own: (tick: number) => boolean) =>
    choice.candidates.map(
      (theta) => events.filter((event) => own(event.tick) && units(event) > theta).length,
    );
  const noise = new Float64Array(1);
  core.laplace(subStream(key, Stage.holdout, 0, 0), choice.countScale, noise);
  const beta = steepness(choice, above((tick) => tick % 16 === 3)[0]! + noise[0]!);
  const pick = (purpose: number, own: (tick: number) => boolean, knee: number) =>
    choice.candidates[
      chooseCandidate(core, subStream(key, Stage.holdout, purpose, 0), choice, above(own), beta, knee)
    ]!;
  const rough = pick(1, (tick) => tick % 16 === 7, 0);
  return pick(2, (tick) => tick % 16 !== 3 && tick % 16 !== 7, 2 * rough);
}

describe.each([1, 14, 300])("%d events a tick are expected", (perTick) => {
  const tally = (from = 0, to = events.length, into = new ThresholdTally(settings, TICKS, perTick)) => {
    for (const { tick, value } of events.slice(from, to)) into.add(value, tick);
    return into;
  };

  test("θ of 40 keys", () => {
    const [filled, chosen] = [tally(), new Set<number>()];
    for (let i = 0; i < 40; i++) {
      const key = unsafeKey(`tally ${i}`);
      expect(filled.choose(core, key)).toBe(byTheText(key, perTick));
      chosen.add(filled.choose(core, key));
    }
    expect(chosen.size).toBeGreaterThan(2);
  });

  test("goes on where it was put down, in as many bytes whatever came", () => {
    const lengths = [0, 1, 450, 900].map((cut) => {
      const writer = new Encoder();
      tally(0, cut).save(writer);
      const again = new ThresholdTally(settings, TICKS, perTick);
      again.load(new Decoder(writer.bytes));
      tally(cut, events.length, again);
      for (let i = 0; i < 5; i++) {
        const key = unsafeKey(`tally ${i}`);
        expect(again.choose(core, key)).toBe(byTheText(key, perTick));
      }
      return writer.bytes.length;
    });
    expect(new Set(lengths).size).toBe(1);
  });

  test("nothing is left of it when it is wiped", () => {
    const [filled, empty] = [tally(), new ThresholdTally(settings, TICKS, perTick)];
    filled.wipe();
    const [a, b] = [filled, empty].map((each) => {
      const writer = new Encoder();
      each.save(writer);
      return writer.bytes;
    });
    expect(a).toEqual(b);
    expect([...filled.candidates].slice(-2)).toEqual([431, 500]);
  });
});
