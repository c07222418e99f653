/** Puts reports into the log. A collector sees reports only, which are private already. */
import { randomInt } from "node:crypto";

import type { Port } from "../port.js";
import { nonceHeader } from "./partitionTallies.js";

/** Bytes of reports in one record at most: 100,000 reports. */
const MOST_BYTES = 800_000;
const REPORT_BYTES = 8;

export interface Batch {
  /** Packed reports of 8 bytes each, end to end (`reportMany`, `packReport`). */
  readonly reports: Uint8Array;
  /** A name of this batch, at most 64 characters: a batch that is sent again under it counts once. */
  readonly nonce?: string;
}

/**
 * Writes batches to a partition at random; resolves when all replicas have them. The same nonce goes to the same partition,
 * where the worker that owns it drops the repeat.
 */
export async function collect(port: Port, topic: string, batches: readonly Batch[]): Promise<void> {
  const { partitions } = (await port.describe([topic]))[0]!;
  const writes = batches.map(({ reports, nonce }) => {
    if (reports.length % REPORT_BYTES !== 0 || reports.length > MOST_BYTES)
      throw new RangeError(
        `reports: expected packed reports of ${REPORT_BYTES} bytes, at most ${MOST_BYTES} bytes in all, got ${reports.length} bytes`,
      );
    if (nonce !== undefined && !(nonce.length >= 1 && nonce.length <= 64))
      throw new RangeError(`nonce: expected 1 to 64 characters, got ${nonce.length}`);
    const partition = nonce === undefined ? randomInt(partitions) : hash(nonce) % partitions;
    const headers = nonce === undefined ? [] : [nonceHeader(nonce)];
    return { topic, partition, records: [{ key: null, value: Buffer.from(reports), headers }] };
  });
  for (const write of writes) await port.send([write]);
}

/** FNV-1a: spreads names over partitions. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
