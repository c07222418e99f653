/** A household's electricity meter, made up: one reading a minute, in watts, over seven weeks. The same every time. */
import seedrandom from "seedrandom";

const DAY = 1440; // minutes

export const METER = {
  /** The hold-out, and one forest after it. */
  holdout: 4096,
  maxRange: 65_536,
  length: 4096 + 65_536,
  /** Most watts that the main fuse lets through: a public bound. */
  max: 10_000,
} as const;

/** When somebody is out, in minutes of the day. */
export interface Absence {
  readonly left: number;
  readonly back: number;
}

/** The day that the story looks at: a Wednesday, four weeks in. */
export const STORY_DAY = 30;

export function absence(day: number): Absence | undefined {
  const random = seedrandom(`absence ${day}`);
  const weekend = day % 7 >= 5;
  const [late, long] = [random(), random()];
  if (weekend && late < 0.5) return undefined;
  const left = (weekend ? 620 : 470) + Math.round(60 * late);
  return { left, back: left + (weekend ? 180 : 510) + Math.round(60 * long) };
}

export function meterStream(): Float64Array {
  const random = seedrandom("meter");
  const values = new Float64Array(METER.length);
  let kettle = 0;
  let washing = 0;
  for (let minute = 0; minute < values.length; minute++) {
    const day = Math.floor(minute / DAY);
    const at = minute % DAY;
    const out = absence(day);
    const home = out === undefined || at < out.left || at >= out.back;
    const awake = at >= 385 && at < 1380;
    const fridge = minute % 47 < 16 ? 95 : 0;
    let watts = 55 + fridge + 12 * random();
    if (home && awake) {
      watts += 130 + 60 * random(); // lights, screens
      if (at >= 1080 && at < 1140) watts += 900 + 700 * random(); // dinner
      if (at >= 1140) watts += 120;
      if (kettle === 0 && random() < 0.012) kettle = 4;
      if (washing === 0 && random() < 0.0009) washing = 75;
    }
    if (kettle > 0) {
      kettle--;
      watts += 1900;
    }
    if (washing > 0) {
      washing--;
      watts += washing > 55 ? 1800 : 250;
    }
    values[minute] = Math.round(watts);
  }
  return values;
}
