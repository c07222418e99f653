/**
 * How many people of each closed day lost events to their limit, and how many lost none: two noisy counts. A person is in
 * one of them, so both have the scale of one count.
 */
import type { NoiseCore } from "../../core/core.js";
import type { Scale } from "../../core/tables/scale.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Day } from "../days/calendar.js";
import { noisyDayCount } from "../days/dayNoise.js";
import type { LimitedPeople } from "./people.js";

/** Noisy numbers of people of a day who lost events to their limit, and who lost none. */
export interface LimitedDay {
  readonly day: number;
  readonly end: number;
  readonly lost: number;
  readonly whole: number;
}

const [LOST, WHOLE] = [1, 2];

export class LimitedDays {
  // Parameters
  readonly #core: NoiseCore;
  readonly #key: Uint32Array;
  readonly #scale: Scale | undefined;
  /** How long days are kept, in milliseconds. */
  readonly #kept: number;
  // State
  #days: readonly LimitedDay[] = [];

  /** @param scale undefined if people are not limited */
  constructor(core: NoiseCore, key: Uint32Array, scale: Scale | undefined, kept: number) {
    this.#core = core;
    this.#key = key;
    this.#scale = scale;
    this.#kept = kept;
  }

  get days(): readonly LimitedDay[] {
    return this.#days;
  }

  /** Adds noise to the counts of a day that ends; returns what publishes them and cannot fail. */
  prepareEnd({ start, end }: Day, people: () => LimitedPeople): () => void {
    const scale = this.#scale;
    if (scale === undefined) return () => undefined;
    const { lost, whole } = people();
    const noisy = (purpose: number, count: number) =>
      noisyDayCount(this.#core, this.#key, purpose, start, scale, count);
    const days = [...this.#days, { day: start, end, lost: noisy(LOST, lost), whole: noisy(WHOLE, whole) }];
    const kept = days.filter((day) => day.end > end - this.#kept);
    return () => {
      this.#days = kept;
    };
  }

  save(writer: Encoder): void {
    writer.count(this.#days.length);
    for (const { day, end, lost, whole } of this.#days)
      for (const number of [day, end, lost, whole]) writer.double(number);
  }

  load(reader: Decoder): void {
    this.#days = Array.from({ length: reader.count() }, () => ({
      day: reader.double(),
      end: reader.double(),
      lost: reader.double(),
      whole: reader.double(),
    }));
  }
}
