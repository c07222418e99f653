/** A stream that runs: true values on one side, a publisher on the other, and the columns of plots in between. */
import type { System } from "brume";
import type { Lines } from "../charts/lines.js";
import type { Run } from "../look/coverage.js";
import type { ReleaseSettings } from "../play/state.js";
import { clampedSum } from "./clampedSum.js";
import { Columns, type Released } from "./columns.js";
import type { Answer, Frame, NoAnswer, Part } from "./protocol.js";
import { makePublisher } from "./publisher.js";

/** Values pushed in one go. */
const BATCH = 2 ** 16;
/** Columns of the plot and of the strip below it. */
const COLUMNS = 600;
const STRIP = 300;

export class Player {
  readonly values: Float64Array;
  readonly #sums: Float64Array;
  readonly #excess: Float64Array;
  readonly #published: Float64Array;
  #publisher: System;
  #settings: ReleaseSettings;
  #window: number;
  #columns: Columns;
  #strip: Columns;
  /** Values that have streamed through. */
  at = 0;

  constructor(values: Float64Array, settings: ReleaseSettings, window: number) {
    this.values = values;
    this.#publisher = makePublisher(settings);
    this.#settings = settings;
    this.#window = window;
    this.#sums = runningSums(values);
    this.#excess = new Float64Array(values.length + 1);
    this.#published = new Float64Array(values.length);
    const all = { from: 0, to: values.length };
    this.#columns = new Columns(all, COLUMNS, window);
    this.#strip = new Columns(all, STRIP, window);
  }

  get publisher(): System {
    return this.#publisher;
  }

  get settings(): ReleaseSettings {
    return this.#settings;
  }

  /** Publishes all values so far again, with other settings. Changes nothing when it throws. */
  publishAgain(settings: ReleaseSettings, window: number): void {
    this.#publisher = makePublisher(settings);
    this.#settings = settings;
    this.#window = window;
    this.#strip = new Columns(this.#strip.part, STRIP, window);
    this.#columns = new Columns(this.#columns.part, COLUMNS, window);
    const { at } = this;
    this.at = 0;
    this.advance(at);
  }

  /** Shows another part. */
  look(part: Part): void {
    this.#columns = new Columns(part, COLUMNS, this.#window);
    this.#columns.draw(this.#released());
  }

  /** Goes to a position; back means from the first value on again, with the same seed or fresh noise. */
  seek(to: number): void {
    if (to < this.at) {
      this.at = 0;
      this.publishAgain(this.#settings, this.#window);
    }
    this.advance(to);
  }

  /** Lets values through up to position `to`, never back. Returns whether the picture has changed. */
  advance(to: number): boolean {
    const end = Math.min(to, this.values.length);
    while (this.at < end) {
      const next = Math.min(end, this.at + BATCH);
      const { length } = this.#publisher;
      this.#published.set(this.#publisher.pushMany(this.values.subarray(this.at, next)), length);
      this.#addExcess(next);
      this.at = next;
    }
    const released = this.#released();
    const drawn = this.#columns.draw(released);
    return this.#strip.draw(released) || drawn;
  }

  frame(): Frame {
    const { blockLength } = this.#publisher.statement();
    return {
      type: "frame",
      at: this.at,
      total: this.values.length,
      published: this.#publisher.length,
      lines: this.lines(),
      overview: this.#strip.lines(),
      averaged: this.#columns.averaged(blockLength),
    };
  }

  lines(): Lines {
    return this.#columns.lines();
  }

  /** Sum over what is published of [from, to), with the true sum beside it. */
  ask(from: number, to: number): Answer | NoAnswer {
    const { holdout } = this.#settings;
    const asked = { from, to };
    const start = Math.max(from, holdout);
    const end = Math.min(to, this.at);
    if (start >= end)
      return { type: "no answer", asked, why: to <= holdout ? "held out" : "not streamed yet" };
    const { sum, low, high, hidden } = this.#publisher.range(start - holdout, end - holdout);
    const threshold = this.#publisher.statement().threshold ?? Infinity;
    const truth = this.#sums[end]! - this.#sums[start]!;
    const clamped = this.#excess[end]! - this.#excess[start]!;
    return { type: "answer", asked, from: start, to: end, truth, clamped, hidden, threshold, sum, low, high };
  }

  /** Answers for a range from releases with other noise: the interval of the noise, and the true sum of the clamped values. */
  runs(
    { from, to }: Part,
    count: number,
    { seed, epsilon }: { seed?: string; epsilon?: number } = {},
  ): Run[] {
    const { holdout } = this.#settings;
    const [start, end] = [Math.max(from, holdout), Math.min(to, this.at)];
    if (start >= end) return [];
    return Array.from({ length: count }, (_, i) => {
      const key = seed === undefined ? { noise: "secret" as const } : { seed: `${seed} ${i}` };
      const budget = epsilon === undefined ? {} : { epsilon };
      const publisher = makePublisher({ ...this.#settings, ...key, ...budget });
      const truth = clampedSum(publisher, this.values, { holdout, start, end });
      const { low, high } = publisher.range(start - holdout, end - holdout);
      return { low, high, truth };
    });
  }

  /** The private line of another release of the same values, on the same columns. */
  again(settings: ReleaseSettings): Float64Array {
    const publisher = makePublisher(settings);
    publisher.pushMany(this.values.subarray(0, this.at));
    const columns = new Columns(this.#columns.part, COLUMNS, this.#window);
    columns.draw({ ...this.#released(), publisher });
    return columns.lines().private;
  }

  /** Everything published so far as CSV: position and private number. */
  csv(): Blob {
    const { holdout } = this.#settings;
    const parts = ["position,private\n"];
    for (let from = 0; from < this.#publisher.length; from += BATCH) {
      const rows = this.#published.subarray(from, Math.min(from + BATCH, this.#publisher.length));
      parts.push(Array.from(rows, (value, i) => `${holdout + from + i},${value}\n`).join(""));
    }
    return new Blob(parts, { type: "text/csv" });
  }

  #released(): Released {
    return {
      publisher: this.#publisher,
      holdout: this.#settings.holdout,
      at: this.at,
      sums: this.#sums,
      excess: this.#excess,
      published: this.#published,
    };
  }

  #addExcess(to: number): void {
    const threshold = this.#publisher.statement().threshold ?? Infinity;
    for (let i = this.at; i < to; i++)
      this.#excess[i + 1] = this.#excess[i]! + Math.max(0, this.values[i]! - threshold);
  }
}

function runningSums(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i]! + values[i]!;
  return sums;
}
