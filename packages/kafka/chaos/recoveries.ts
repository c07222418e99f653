/** How long it takes after a fault until every partition publishes again. */
import { setTimeout as sleep } from "node:timers/promises";

import { fetchCommitted } from "../src/committed.js";
import type { Port } from "../src/port.js";
import { until } from "../test/support/workload.js";

export class Recoveries {
  readonly list: number[] = [];
  /** When each partition last had a new number. */
  readonly #advanced: number[];
  /** The offset behind the last number that was seen, by partition. */
  readonly #next: number[];
  readonly #port: Port;
  readonly #topic: string;
  #running = true;
  readonly #watching: Promise<unknown>;

  constructor(port: Port, topic: string, partitions: number) {
    this.#port = port;
    this.#topic = topic;
    this.#advanced = Array<number>(partitions).fill(0);
    this.#next = Array<number>(partitions).fill(0);
    this.#watching = Promise.all(this.#advanced.map((_, partition) => this.#watch(partition)));
  }

  /** Waits until all partitions have published something new; at most `limit` milliseconds. */
  async measure(limit: number): Promise<void> {
    const from = performance.now();
    while (this.#advanced.some((time) => time <= from) && performance.now() < from + limit) await sleep(10);
    this.list.push(Math.max(...this.#advanced.map((time) => (time > from ? time : from + limit))) - from);
  }

  /** Waits until all partitions have published something that was written after this call; fails after `limit`. */
  async writtenFromNow(limit: number): Promise<void> {
    const ends = await Promise.all(
      this.#advanced.map((_, partition) => this.#port.bounds(this.#topic, partition)),
    );
    await until(() => ends.every(({ end }, partition) => this.#next[partition]! > end), limit);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#watching;
  }

  async #watch(partition: number): Promise<void> {
    let from = 0;
    while (this.#running)
      try {
        const { records, next } = await fetchCommitted(this.#port, {
          topic: this.#topic,
          partition,
          from,
          wait: 200,
        });
        if (records.length > 0) {
          this.#advanced[partition] = performance.now();
          this.#next[partition] = records.at(-1)!.offset + 1;
        }
        from = next;
      } catch {
        await sleep(100); // no leader at the moment
      }
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
