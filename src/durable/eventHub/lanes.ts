/**
 * Clocks of a metric of a hub. While the journal is replayed, a chunk of keys is behind or ahead of what all keys share: it
 * then has a clock of its own (a lane), and the rows say which events counted. At the end all lanes have reached the same row,
 * and their keys join what is shared.
 */
import type { EventMetric } from "../../events/eventMetric.js";
import { Decoder, Encoder } from "../../snapshot/codec.js";
import { readRanges, writeRanges } from "./closedDays.js";
import type { HubKeys } from "./hubKeys.js";
import type { KeyChunk } from "./keyChunk.js";

/** Something with a clock that rows move: what all keys share, or a chunk in a replay. */
export interface Lane {
  readonly metric: EventMetric;
  /** Rows up to this one are in it. */
  covers: number;
  /** Ranges of the running day that nobody listened to. */
  missed: (readonly [number, number])[];
}

export class Lanes {
  // Parameters
  readonly #keys: HubKeys;
  // State
  /** Clock, people and hold-out that all keys share. */
  readonly main: Lane;
  /** The row that chose θ, and the clock of that moment; 0 and nothing if there is none. */
  #chosen = { position: 0, clock: new Uint8Array(0) };

  constructor(keys: HubKeys, metric: EventMetric) {
    this.#keys = keys;
    this.main = { metric, covers: 0, missed: [] };
  }

  all(): Lane[] {
    return [this.main, ...this.#keys.chunks.flatMap(({ lane }) => lane ?? [])];
  }

  of(chunk: KeyChunk): Lane {
    return chunk.lane ?? this.main;
  }

  /** Chunks whose keys go by the clock of a lane. */
  chunksOf(lane: Lane): KeyChunk[] {
    return this.#keys.chunks.filter((chunk) => this.of(chunk) === lane);
  }

  /** Whether a row moves the clock of a lane. */
  isMoved(lane: Lane, position: number): boolean {
    return lane.covers < position && (lane === this.main || !Number.isNaN(lane.metric.units));
  }

  /** Whether the journal is replayed. */
  get replays(): boolean {
    return this.#keys.chunks.some(({ lane }) => lane !== undefined);
  }

  /** Gives a chunk a clock of its own. @param covers rows up to this one are in the chunk */
  open(chunk: KeyChunk, metric: EventMetric, covers: number, missed: Lane["missed"]): Lane {
    return (chunk.lane = { metric, covers, missed });
  }

  /** Ends the opening of a lane: it expects the keys to come, and takes up θ. */
  begin(lane: Lane, chunk: KeyChunk): void {
    this.#keys.expectComing(lane, [chunk]);
    if (this.#chosen.position > 0) this.#takeTheta(lane, chunk);
  }

  /** Takes note that a row chose θ, for lanes that have not come to it. */
  choose(position: number): void {
    const writer = new Encoder();
    this.main.metric.saveClock(writer);
    this.#chosen = { position, clock: writer.bytes };
    for (const chunk of this.#keys.chunks) if (chunk.lane !== undefined) this.#takeTheta(chunk.lane, chunk);
  }

  /** A lane without θ takes up the clock of the moment at which it was chosen. */
  #takeTheta(lane: Lane, chunk: KeyChunk): void {
    if (!Number.isNaN(lane.metric.units)) return;
    lane.metric.loadClock(new Decoder(this.#chosen.clock));
    for (const { name } of this.#keys.of(chunk)) lane.metric.leave(name);
    this.#keys.joinDue(lane, [chunk]);
    lane.covers = Math.max(lane.covers, this.#chosen.position);
  }

  /** Ends the replay: the keys of all lanes join what is shared. @param name of the metric */
  merge(name: string): void {
    for (const chunk of this.#keys.chunks) {
      const { lane } = chunk;
      chunk.lane = undefined;
      if (lane === undefined) continue;
      const known = !Number.isNaN(this.main.metric.units);
      if (known && lane.metric.next !== this.main.metric.next)
        throw new Error(
          `metric ${name}: sections of the journal do not agree; restore a whole copy of the store`,
        );
      this.#join(chunk, lane.metric);
    }
    this.#keys.joinDue(this.main, this.#keys.chunks);
  }

  /** A key that left may still be in a chunk that was stored before: how many rows came since must not decide it. */
  #join(chunk: KeyChunk, from: EventMetric): void {
    const { metric } = this.main;
    for (const { number, ...key } of this.#keys.of(chunk)) {
      const { name } = key;
      if (from.isExpected(name)) metric.expect(name, from.takeExpected(name));
      else if (!this.#keys.publishes(key, metric.day.start)) from.leave(name);
      else if (from.keys.includes(name)) {
        metric.join(name, from.release(name));
        this.#keys.join(number);
      }
    }
  }

  save(writer: Encoder): void {
    writer.count(this.#chosen.position);
    writer.blob(this.#chosen.clock);
    writeRanges(writer, this.main.missed);
  }

  load(reader: Decoder): void {
    this.#chosen = { position: reader.count(), clock: reader.blob().slice() };
    this.main.missed = readRanges(reader);
  }
}
