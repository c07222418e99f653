/** A helpline, made up: one value is the length of one person's call, in minutes. The same every time. */
import seedrandom from "seedrandom";

export const CALLS = {
  /** All lines are always busy, and a call ends after an hour: both are public. */
  perDay: 4096,
  days: 42,
  max: 60,
  /** One forest holds 16 days. */
  maxRange: 65_536,
} as const;

/** The call that the picture points at: which one, and the calls around it that are drawn. */
export const MARKED = { at: 20 * CALLS.perDay + 2090, minutes: 57, around: 20 } as const;

export function callStream(): Float64Array {
  const random = seedrandom("helpline");
  const values = new Float64Array(CALLS.perDay * CALLS.days);
  for (let i = 0; i < values.length; i++) {
    const day = Math.floor(i / CALLS.perDay);
    const usual = 9 + (day % 7 >= 5 ? 5 : 0) + 3 * Math.sin(day / 6); // weekends have longer calls
    const normal = random() + random() + random() - 1.5;
    values[i] = Math.min(CALLS.max, Math.max(1, Math.round(usual * Math.exp(1.3 * normal))));
  }
  values[MARKED.at] = MARKED.minutes;
  return values;
}
