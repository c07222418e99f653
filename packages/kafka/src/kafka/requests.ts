/**
 * The requests that we write ourselves. The client's own are right for a plain consumer; these have to be exact:
 * fetch gives batches with their producers, and version 3 of AddPartitionsToTxn is the newest one meant for clients.
 */
import { createAPI, type Reader, ResponseError, Writer } from "@platformatic/kafka";

import type { Fetched } from "../port.js";
import { decodeBatches, type Producer } from "./batches.js";

interface Target {
  readonly topic: string;
  readonly partition: number;
}

export const fetchRequest = createAPI<
  [target: Target & { from: number; committed: boolean; wait: number; maxBytes: number }],
  Fetched
>(
  1,
  12,
  ({ topic, partition, from, committed, wait, maxBytes }) =>
    Writer.create()
      .appendInt32(-1) // no replica
      .appendInt32(wait as number)
      .appendInt32(1)
      .appendInt32(maxBytes as number)
      .appendInt8(committed ? 1 : 0)
      .appendInt32(0) // no session
      .appendInt32(-1)
      .appendArray([topic as string], (w, name) =>
        w.appendString(name).appendArray([partition as number], (inner, index) => {
          inner
            .appendInt32(index)
            .appendInt32(-1)
            .appendInt64(BigInt(from as number));
          inner
            .appendInt32(-1)
            .appendInt64(-1n)
            .appendInt32(maxBytes as number);
        }),
      )
      .appendArray([], () => {})
      .appendString("")
      .appendTaggedFields(),
  (_, key, version, reader) => {
    reader.readInt32();
    failOn(key, version, reader.readInt16());
    reader.readInt32();
    reader.readUnsignedVarInt(); // one topic
    reader.readString();
    reader.readUnsignedVarInt(); // one partition
    reader.readInt32();
    failOn(key, version, reader.readInt16());
    const [highWatermark, lastStable, start] = [readLong(reader), readLong(reader), readLong(reader)];
    const aborted = reader.readNullableArray((r) => ({
      producerId: r.readInt64(),
      firstOffset: readLong(r),
    }));
    reader.readInt32();
    const length = reader.readUnsignedVarInt() - 1;
    const bytes =
      length > 0 ? reader.buffer.slice(reader.position, reader.position + length) : Buffer.alloc(0);
    const end = lastStable < 0 ? highWatermark : lastStable;
    return { batches: decodeBatches(bytes), aborted: aborted ?? [], start, end };
  },
);

export const produceRequest = createAPI<
  [target: Target & { transactionalId: string | null; batch: Buffer; timeout: number }],
  { baseOffset: number }
>(
  0,
  9,
  ({ topic, partition, transactionalId, batch, timeout }) =>
    Writer.create()
      .appendString(transactionalId as string | null)
      .appendInt16(-1) // acknowledged by all replicas in sync
      .appendInt32(timeout as number)
      .appendArray([topic as string], (w, name) =>
        w.appendString(name).appendArray([partition as number], (inner, index) =>
          inner
            .appendInt32(index)
            .appendUnsignedVarInt((batch as Buffer).length + 1)
            .append(batch as Buffer),
        ),
      )
      .appendTaggedFields(),
  (_, key, version, reader) => {
    reader.readUnsignedVarInt();
    reader.readString();
    reader.readUnsignedVarInt();
    reader.readInt32();
    failOn(key, version, reader.readInt16());
    return { baseOffset: readLong(reader) };
  },
);

export const addPartitionsRequest = createAPI<
  [transactionalId: string, producer: Producer, targets: readonly Target[]],
  void
>(
  24,
  3,
  (transactionalId: string, producer: Producer, targets: readonly Target[]) =>
    Writer.create()
      .appendString(transactionalId)
      .appendInt64(producer.id)
      .appendInt16(producer.epoch)
      .appendArray([...targets], (w, { topic, partition }) =>
        w
          .appendString(topic)
          .appendArray([partition], (inner, index) => inner.appendInt32(index), true, false),
      )
      .appendTaggedFields(),
  (_, key, version, reader) => {
    reader.readInt32();
    reader.readArray((topic) => {
      topic.readString();
      topic.readArray((r) => {
        r.readInt32();
        failOn(key, version, r.readInt16());
      });
    });
  },
);

export const endTransactionRequest = createAPI<
  [transactionalId: string, producer: Producer, commit: boolean],
  void
>(
  26,
  3,
  (transactionalId: string, producer: Producer, commit: boolean) =>
    Writer.create()
      .appendString(transactionalId)
      .appendInt64(producer.id)
      .appendInt16(producer.epoch)
      .appendBoolean(commit)
      .appendTaggedFields(),
  (_, key, version, reader) => {
    reader.readInt32();
    failOn(key, version, reader.readInt16());
  },
);

function failOn(key: number, version: number, errorCode: number): void {
  if (errorCode !== 0) throw new ResponseError(key, version, { "/": errorCode }, {});
}

function readLong(reader: Reader): number {
  return Number(reader.readInt64());
}
