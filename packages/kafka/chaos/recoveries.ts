/** How long it takes after a fault until every partition publishes again. */
import { setTimeout as sleep } from "node:timers/promises";

import { fetchCommitted } from "../src/committed.js";
import type { Port } from "../src/port.js";

export class Recoveries {
  readonly list: number[] = [];
  /** When each partition last had a new number. */
  readonly #advanced: number[];
  #running = true;
  readonly #watching: Promise<unknown>;

  constructor(port: Port, topic: string, partitions: number) {
    this.#advanced = Array<number>(partitions).fill(0);
    this.#watching = Promise.all(this.#advanced.map((_, partition) => this.#watch(port, topic, partition)));
  }

  /** Waits until all partitions have published something new; at most `limit` milliseconds. */
  async measure(limit: number): Promise<void> {
    const from = performance.now();
    while (this.#advanced.some((time) => time <= from) && performance.now() < from + limit) await sleep(10);
    this.list.push(Math.max(...this.#advanced.map((time) => (time > from ? time : from + limit))) - from);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#watching;
  }

  async #watch(port: Port, topic: string, partition: number): Promise<void> {
    let from = 0;
    while (this.#running)
      try {
        const { records, next } = await fetchCommitted(port, { topic, partition, from, wait: 200 });
        if (records.length > 0) this.#advanced[partition] = performance.now();
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
