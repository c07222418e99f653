/**
 * The releases of all keys of a metric. They begin, close and end their days together; each has noise and sums of its own,
 * from the moment at which θ is known.
 */
import type { NoiseCore } from "../core/core.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";
import type { DayPeriods } from "./days/dayPeriods.js";
import type { KeptDay } from "./days/history.js";
import { countScale, type EventSettings, eventsPerPerson, releaseScale } from "./eventSettings.js";
import { Release, type ReleaseShape } from "./release.js";
import type { RunningDay } from "./days/runningDay.js";

/** Sums of a period saturate at so many events, or grid units: far above anything real, and exact in a double. */
const COUNT_CAP = 2 ** 32;
const SUM_CAP = 2 ** 40;

export class Releases {
  // Parameters
  readonly #core: NoiseCore;
  readonly #keyOf: (name: string) => Uint32Array;
  // State
  readonly #names: string[];
  readonly #releases = new Map<string, Release>();
  /** Releases of keys whose first day has not begun, and which take events of it already. */
  readonly #coming = new Map<string, Release>();
  #shape: ReleaseShape | undefined;
  /** Releases that may lack the noise of the running day: a search among all of them, key by key, would be quadratic. */
  #undrawn: Release[] = [];
  /** The name that was asked for last, and its release: a stream has no other, and a look-up takes as long as the rest of `add`. */
  #name: string | undefined;
  #release: Release | undefined;

  /**
   * @param keyOf 8 secret words for the noise of a key
   * @param names of the keys that exist from the start
   */
  constructor(core: NoiseCore, keyOf: (name: string) => Uint32Array, names: Iterable<string>) {
    this.#core = core;
    this.#keyOf = keyOf;
    this.#names = [...names];
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** The release of a key; undefined if it has none, or before θ is known. */
  get(name: string): Release | undefined {
    if (name === this.#name) return this.#release;
    this.#name = name;
    return (this.#release = this.#find(name));
  }

  #find(name: string): Release | undefined {
    return this.#releases.get(name) ?? this.#coming.get(name);
  }

  #forgetLast(): void {
    this.#name = this.#release = undefined;
  }

  /** Makes all releases. k is known. @param theta Θ in grid units; 1 for counts */
  fix(settings: EventSettings, theta: number): void {
    const { grid, schedule, keep, shares, columns } = settings;
    this.#shape = {
      core: this.#core,
      levels: schedule.levels,
      keep,
      columns,
      scale: releaseScale(settings, theta),
      fraction: grid === undefined ? 2 ** 16 : 2 ** 8,
      cap: grid === undefined ? COUNT_CAP : SUM_CAP,
      clippedScale: shares.clipped > 0 ? countScale(settings, eventsPerPerson(settings)) : undefined,
    };
    this.#forgetLast();
    for (const name of this.#names) this.#releases.set(name, this.make(name));
  }

  /** Takes back what `fix` did. */
  unfix(): void {
    this.#forgetLast();
    this.#releases.clear();
    this.#shape = undefined;
  }

  /** A release of a key that has published nothing. θ is known. */
  make(name: string): Release {
    return new Release(this.#shape!, this.#keyOf(name));
  }

  /** Takes events of a key whose first day is still to come. θ is known. */
  expect(name: string, release = this.make(name)): void {
    this.#forgetLast();
    this.#coming.set(name, release);
  }

  /** The release of a key that was expected, which is so no more. */
  takeExpected(name: string): Release | undefined {
    this.#forgetLast();
    const release = this.#coming.get(name);
    this.#coming.delete(name);
    return release;
  }

  isExpected(name: string): boolean {
    return this.#coming.has(name);
  }

  /** Takes another key. @param release undefined before θ is known */
  join(name: string, release: Release | undefined): void {
    this.#forgetLast();
    this.#names.push(name);
    if (release === undefined) return;
    this.#releases.set(name, release);
    this.#undrawn.push(release);
  }

  /** Forgets a key and wipes what was taken for it. */
  leave(name: string): void {
    this.#forgetLast();
    const at = this.#names.indexOf(name);
    if (at >= 0) this.#names.splice(at, 1);
    this.#find(name)?.forgetBefore(Infinity);
    this.#releases.delete(name);
    this.#coming.delete(name);
  }

  beginDay(periods: DayPeriods): void {
    for (const release of this.#releases.values()) release.beginDay(periods);
    this.#undrawn = [...this.#releases.values()];
  }

  /** The noisy integers of every key for a leaf of the running day, key by key. Changes nothing that is published. */
  *estimates(periods: DayPeriods, leaf: number): Generator<void, Float64Array[]> {
    const estimates: Float64Array[] = [];
    for (const release of this.#releases.values()) {
      estimates.push(release.estimate(periods, leaf));
      yield;
    }
    return estimates;
  }

  /** Publishes what `estimates` gave, or nothing for a period that was missed. Cannot fail. */
  close(periods: DayPeriods, leaf: number, estimates: readonly Float64Array[] | undefined): void {
    let i = 0;
    for (const release of this.#releases.values()) release.close(periods, leaf, estimates?.[i++]);
  }

  /** Computes all that a day's end needs, key by key; returns what ends it and begins the next day, and cannot fail. */
  *prepareEnd(periods: DayPeriods, following: DayPeriods): Generator<void, () => void> {
    const prepared: (readonly [number | undefined, KeptDay, RunningDay])[] = [];
    for (const release of this.#releases.values()) {
      prepared.push([release.clippedOf(periods), release.prepareEnd(), release.prepareDay(following)]);
      yield;
    }
    return () => {
      let i = 0;
      for (const release of this.#releases.values()) {
        const [clipped, ended, begun] = prepared[i++]!;
        release.endDay(periods, clipped, ended);
        release.beginDay(following, begun);
      }
    };
  }

  /** Wipes what was taken for days before one: nobody listened to them to their end. */
  forgetBefore(day: number): void {
    for (const releases of [this.#releases, this.#coming])
      for (const release of releases.values()) release.forgetBefore(day);
  }

  /** Draws the noise of the running day for keys that do not have it: up to `most` of them. Returns whether all have it. */
  drawDay(most: number): boolean {
    for (let release; (release = this.#undrawn.pop()) !== undefined;) {
      if (release.hasNoise) continue;
      if (most-- === 0) {
        this.#undrawn.push(release);
        return false;
      }
      release.draw(); // if it fails, it is drawn when it is needed
    }
    return true;
  }

  /** Start of the last period in which one of these keys has events; −Infinity if none has. */
  latest(names: readonly string[]): number {
    return names.reduce((most, name) => Math.max(most, this.#find(name)?.latest ?? most), -Infinity);
  }

  /** @param starts of the periods that the clock lets in; `days` the days that they lie in */
  save(writer: Encoder, names: readonly string[], starts: readonly number[], days: readonly number[]): void {
    writer.count(days.length);
    for (const day of days) writer.double(day);
    for (const name of names) this.#find(name)?.save(writer, starts, days);
  }

  load(reader: Decoder, names: readonly string[]): void {
    const days = Array.from({ length: reader.count() }, () => reader.double());
    for (const name of names) this.#find(name)?.load(reader, days);
  }
}
