/**
 * Random lives of a hub: openings with other keys and other settings, events before and after midnights that are not closed
 * yet, and kills at any put. Every opening succeeds, and every hour that has a number has the events that were acknowledged.
 */
import { expect, test, vi } from "vitest";
import { Dice } from "../../../scripts/fuzz/dice.js";
import { HubMetric } from "../../../src/durable/eventHub/hubMetric.js";
import { openHub, type StreamMetric } from "../../../src/index.js";
import { mortalStore } from "../../support/mortalStore.js";
import { key, plainStore } from "../support.js";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 1, 21);
/** More than a chunk holds. */
const KEYS = Array.from({ length: 70 }, (_, i) => `k${i}`);
const USED = KEYS.filter((_, i) => i % 9 === 6);

interface Shape {
  readonly kind: "list" | "rule" | "votes";
  readonly lateness: "0s" | "2h";
}

const randomShape = (dice: Dice): Shape => ({
  kind: dice.pick(["list", "list", "rule", "votes"]),
  lateness: dice.pick(["0s", "2h"]),
});

/** ε so large that the noise is 0 but for odds of e⁻⁵⁰⁰ a number. */
function randomMetric(dice: Dice, { kind, lateness }: Shape): StreamMetric {
  const common = { of: "count", epsilon: 4000, every: "1h", levels: ["1h"], lateness } as const;
  if (kind === "rule") return { ...common, keys: (name) => /^k\d+$/.test(name) };
  const list = KEYS.slice(0, 1 + dice.below(KEYS.length));
  if (kind === "list") return { ...common, keys: list };
  const keys = { listed: list, discover: { delta: 1e-3 } };
  return { ...common, perPerson: { events: 3, people: 8 }, keys };
}

/** Events of a key in an hour: acknowledged, and those whose answer was lost. */
interface Sent {
  readonly key: string;
  readonly hour: number;
  sure: number;
  most: number;
}

/** Lives a life; returns how many numbers were compared, and those that are wrong. */
async function live(dice: Dice): Promise<{ readonly compared: number; readonly wrong: readonly string[] }> {
  const store = plainStore();
  const sent: Sent[] = [];
  const wrong: string[] = [];
  let [now, people, compared] = [START, 0, 0];
  let shape = randomShape(dice);
  for (let session = 3 + dice.below(4); session > 0; session--) {
    if (dice.chance(0.2)) shape = randomShape(dice); // other settings: the metric begins anew
    const metric = randomMetric(dice, shape);
    const open = (own = store) =>
      openHub({
        ...{ metrics: { m: metric }, store: own, key, clock: () => now, commitEvery: 0, confirmClock: true },
      });
    const mortal = mortalStore(store, dice.chance(0.5) ? 1 + dice.below(60) : Infinity, dice.chance(0.5));
    const hub = open(mortal.store as typeof store);
    try {
      await hub.stats();
      for (let step = 2 + dice.below(10); step > 0; step--) {
        for (let batch = dice.below(4); batch > 0; batch--) {
          const one = { key: dice.pick(USED), hour: now - (now % HOUR), sure: 0, most: 1 + dice.below(3) };
          sent.push(one);
          const person = () => (metric.perPerson === undefined ? {} : { person: `p${people++}` });
          await hub.addMany(
            "m",
            Array.from({ length: one.most }, () => ({ key: one.key, ...person() })),
          );
          one.sure = one.most;
        }
        now += dice.chance(0.5) ? HOUR : HOUR / 3;
        if (dice.chance(0.9)) await hub.advance();
      }
      if (dice.chance(0.3)) await hub.close();
    } catch (error) {
      if (mortal.alive()) throw error;
    }
    const again = open();
    for (const { key: name, hour } of sent) {
      const same = sent.filter((other) => other.key === name && other.hour === hour);
      const range = [hour, hour + HOUR] as const;
      const answer = await again.between("m", name, ...range).catch((error: Error) => {
        if (!error.message.startsWith("key: expected one of the keys")) throw error;
      });
      if (answer?.complete !== true) continue;
      compared++;
      const value = Math.round(answer.value!);
      const [least, most] = [
        same.reduce((n, { sure }) => n + sure, 0),
        same.reduce((n, own) => n + own.most, 0),
      ];
      if (value < least || value > most)
        wrong.push(`${name} ${new Date(hour).toISOString()}: ${value}, expected ${least} to ${most}`);
    }
  }
  return { compared, wrong };
}

const SEED = 2026;
const LIVES = 10;

test("other keys, other settings, kills: what is acknowledged is in its hour, and every opening succeeds", async () => {
  let total = 0;
  for (let life = 0; life < LIVES; life++) {
    const { compared, wrong } = await live(new Dice(SEED, life));
    expect([life, wrong]).toEqual([life, []]);
    total += compared;
  }
  expect(total).toBeGreaterThan(100);
});

test("planted: events of a day that has not begun are dropped, and a life sees it", async () => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called on another object
  const { takes } = HubMetric.prototype;
  const planted = vi.spyOn(HubMetric.prototype, "takes").mockImplementation(function (
    this: HubMetric,
    number,
    day,
  ) {
    return day === this.events.day.start && takes.call(this, number, day);
  });
  const wrong: string[] = [];
  for (let life = 0; life < LIVES && wrong.length === 0; life++)
    wrong.push(...(await live(new Dice(SEED, life))).wrong);
  expect(wrong).not.toEqual([]);
  planted.mockRestore();
});
