/**
 * θ is chosen a while after the midnight that ends the hold-out: at the earliest after the lateness. Events of that while
 * belong to a day of which numbers are published. If they chose θ too, with all of ε, their person's day would cost more
 * than ε: `limited` counts people of the whole day.
 */
import { expect, test } from "vitest";
import { privateStream } from "../../src/privateStream.js";
import { clockAt } from "../support/eventStreams.js";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 1);
const MIDNIGHT = START + 24 * HOUR;

/** All that is said about the two days, with the events of one person between midnight and the choice of θ, or without. */
function said(events: number, at: number): string {
  const clock = clockAt(START);
  const own = privateStream({
    ...{ epsilon: 2000, every: "1h", levels: ["1h", "1d"], max: 1000, lateness: "1h", skew: "3d" },
    ...{ perPerson: 3, unsafeSeed: "hold-out", clock },
  });
  for (let i = 0; i < 40; i++) own.add(i, { at: START + i * 1000, person: `person ${i}` });
  clock.move(MIDNIGHT + HOUR / 2);
  for (let i = 0; i < events; i++) own.add(900, { at, person: "somebody" });
  clock.move(MIDNIGHT + HOUR);
  own.advance();
  expect(own.statement().threshold).not.toBeNull();
  clock.move(MIDNIGHT + 50 * HOUR);
  return JSON.stringify([own.advance(), own.statement()]);
}

test("a person's events between midnight and the choice of θ move nothing, at any ε", () => {
  for (const at of [MIDNIGHT, MIDNIGHT + HOUR / 4]) expect(said(4, at)).toBe(said(0, at));
});

test("events before midnight choose θ, also those that come after it", () => {
  expect(said(3, MIDNIGHT - 1)).not.toBe(said(0, MIDNIGHT - 1));
});
