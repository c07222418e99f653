/** Answers from the tallies of all partitions, in any process: nothing in them is secret. */
import { aggregator, type Aggregator, type LocalAnswer } from "brume";

import type { ConnectOptions } from "../kafka/connections.js";
import { kafkaPort } from "../kafka/port.js";
import type { Port } from "../port.js";
import { bucketLength, type LocalOptions } from "./options.js";
import { readTallies } from "./tallies.js";
import { readThreshold } from "./threshold.js";

export interface LocalReading {
  /** Undefined while devices learn. */
  readonly theta: number | undefined;
  /** All reports in one: `quantile`, `cdf`, `distribution`, `total`, `statement`. */
  readonly all: Aggregator;
  /** Sum and mean of the release-reports whose record is in [from, to), in whole buckets. Milliseconds since 1970. */
  between(from: number, to: number, options?: { readonly confidence?: number }): LocalAnswer;
}

export async function readLocal(options: LocalOptions & ConnectOptions): Promise<LocalReading> {
  const port = kafkaPort(options);
  return readLocalFrom(port, options).finally(() => port.close());
}

/** The same on any port. */
export async function readLocalFrom(port: Port, options: LocalOptions): Promise<LocalReading> {
  const theta = (await readThreshold(port, options))?.theta;
  const every = bucketLength(options);
  const make = () =>
    aggregator({ ...options.local, history: 1, ...(theta === undefined ? {} : { threshold: theta }) });
  const all = make();
  const buckets = new Map<number, Aggregator>();
  const { partitions } = (await port.describe([options.tallies]))[0]!;
  for (let partition = 0; partition < partitions; partition++)
    for (const { at, bytes } of (await readTallies(port, options, partition)).stored) {
      all.merge(bytes);
      if (at === undefined) continue;
      const bucket = buckets.get(at) ?? make();
      bucket.merge(bytes);
      buckets.set(at, bucket);
    }
  return {
    ...{ theta, all },
    between: (from, to, how) => {
      if (!(from % every === 0 && to % every === 0 && from <= to))
        throw new RangeError(
          `between: expected whole buckets of ${every} ms since 1970 in order, got ${from} to ${to}`,
        );
      const sum = make();
      for (const [at, bucket] of buckets) if (at >= from && at < to) sum.merge(bucket);
      return sum.total(how);
    },
  };
}
