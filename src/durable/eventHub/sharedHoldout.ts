/**
 * One θ for all keys of a metric. The events of its first ticks choose it, no matter which keys they are for. Each of them
 * is used once, for θ alone, and is not published; the streams of the keys begin with the tick after. So the two ε compose
 * in parallel.
 */
import type { Core } from "../../core/core.js";
import { ThresholdTally } from "../../events/threshold.js";
import { Decoder, Encoder } from "../../stream/codec.js";
import type { Settings } from "../../stream/options.js";
import { paddedTo } from "./log.js";

/** An event after the hold-out that came before θ was known. */
export interface WaitingEvent {
  readonly key: string;
  readonly tick: number;
  readonly value: number;
  /** The record that it is in. */
  readonly position: number;
}

/** Bytes for waiting events; more are padded to a power of two. */
const SHORTEST = 4096;

export class SharedHoldout {
  /** Ticks of the hold-out. */
  readonly ticks: number;
  readonly #tally: ThresholdTally;
  readonly #resolution: number;
  /** θ in units of the values; NaN until it is known. */
  theta = NaN;
  waiting: WaitingEvent[] = [];

  /** @param perTick a public guess of the events that a tick has, over all keys */
  constructor(stream: Settings, ticks: number, perTick: number) {
    this.ticks = ticks;
    this.#resolution = stream.resolution;
    this.#tally = new ThresholdTally(stream, ticks, perTick);
  }

  get chosen(): boolean {
    return !Number.isNaN(this.theta);
  }

  add(event: WaitingEvent): void {
    if (event.tick < this.ticks) this.#tally.add(event.value, event.tick);
    else this.waiting.push(event);
  }

  /** Chooses θ when the last tick of the hold-out is closed. */
  close(closed: number, core: Core, key: Uint32Array): void {
    if (closed >= this.ticks && !this.chosen) this.theta = this.#tally.choose(core, key) * this.#resolution;
  }

  save(writer: Encoder): void {
    writer.double(this.theta);
    this.#tally.save(writer);
    const events = new Encoder();
    events.count(this.waiting.length);
    for (const { key, tick, value, position } of this.waiting) {
      events.text(key);
      events.count(tick);
      events.double(value);
      events.count(position);
    }
    writer.blob(paddedTo(SHORTEST, events.bytes));
  }

  load(reader: Decoder): void {
    this.theta = reader.double();
    this.#tally.load(reader);
    const events = new Decoder(reader.blob());
    this.waiting = Array.from({ length: events.count() }, () => ({
      key: events.text(),
      tick: events.count(),
      value: events.double(),
      position: events.count(),
    }));
  }
}
