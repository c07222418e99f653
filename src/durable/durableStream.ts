/**
 * A stream that survives a restart. This rule makes it safe (docs/snapshots.md):
 *
 *     receive values ─▶ take a snapshot of the state after them ─▶ store it ─▶ publish their numbers
 *
 * So the stored state covers everything that was published. A process that opens the stream again, after a clean stop
 * or a kill, resumes after the last published position: no position is published twice, and no noise covers two values.
 */
import type { RangeAnswer } from "../stream/answer/answer.js";
import type { Settings, StreamOptions } from "../stream/options.js";
import type { SnapshotKey } from "../snapshot/streamCipher.js";
import type { Statement } from "../stream/statement.js";
import { HoldoutStream } from "../stream/holdoutStream.js";
import type { RangeOptions } from "../stream/system.js";
import { Durable } from "./durable.js";
import type { Budget } from "./budget/odometer.js";
import type { DurableKind } from "./openDurable.js";
import type { Store } from "./stores/store.js";

interface NamedOptions extends StreamOptions {
  /** Which stream of the store. Public. */
  readonly name: string;
}

export interface OpenStreamOptions extends NamedOptions {
  /** Where the stream is kept. */
  readonly store: Store;
  /** Encrypts the snapshots; as secret as the data. */
  readonly key: SnapshotKey;
  /**
   * The lowest sequence number that the stored snapshot may have. Keep `stream.sequence` in a place that is not rolled
   * back together with the store, and give it here. Default 0: no check.
   */
  readonly atLeast?: number;
  /** The odometer that this stream is charged to, and the data that it reads. */
  readonly budget?: Budget;
}

/** How a stream of values begins, and how it continues. @param settings those of many streams may be one object */
export const durableKindOf = (settings: Settings, name: string): DurableKind<HoldoutStream> => ({
  begin: () => HoldoutStream.begin(settings, name),
  restore: (snapshot, key) => HoldoutStream.restore(snapshot, key, settings, name),
});

/** A stream of values that publishes a number after its state is stored. */
export class DurableStream extends Durable<HoldoutStream> {
  /** Values received so far, held-out ones included: where the source resumes after a restart. */
  get received(): number {
    return this.stream.received;
  }

  /** Positions published so far. After a restart, `published` returns those that were stored but not sent. */
  get length(): number {
    return this.stream.length;
  }

  /** Receives a value and gives the private number for its position, or `undefined` during the hold-out. */
  push(value: number): Promise<number | undefined> {
    return this.answer((stream) => stream.push(value), true);
  }

  /** Receives a batch and gives its published numbers, with one snapshot for all of it. */
  pushMany(values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.answer((stream) => stream.pushMany(values), true);
  }

  /** Takes a batch of values that are checked already, and that nobody changes. Not for callers: hence no method. */
  static receive(stream: DurableStream, batch: Float64Array): Promise<Float64Array> {
    return stream.answer((inner) => inner.receive(batch), true);
  }

  /** The numbers published at positions [from, to), read again, bit for bit. */
  published(from: number, to: number): Promise<Float64Array> {
    return this.answer((stream) => stream.published(from, to));
  }

  /** Sum and mean over published positions [from, to), with error bars. */
  range(from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.answer((stream) => stream.range(from, to, options));
  }

  /** The machine-readable privacy statement. It contains θ, so it waits for the store like all other answers. */
  statement(): Promise<Statement> {
    return this.answer((stream) => stream.statement());
  }

  /** The privacy statement for people, as a short text. */
  explain(): Promise<string> {
    return this.answer((stream) => stream.explain());
  }
}
