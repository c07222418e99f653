/**
 * A hub whose streams are shared out among worker threads by their names. Each stream gives the same numbers as in a hub
 * without threads, bit for bit: a thread has a hub of its own, and a stream belongs to one thread.
 */
import { Worker } from "node:worker_threads";
import { checkValues } from "../../core/batches.js";
import { checkInteger, checkValue, shown } from "../../core/checks.js";
import { given } from "../../core/given.js";
import type { RangeAnswer } from "../../stream/answer/answer.js";
import { snapshotKey } from "../../snapshot/streamCipher.js";
import type { Statement } from "../../stream/statement.js";
import { valueStream } from "../../stream/holdoutStream.js";
import type { RangeOptions } from "../../stream/system.js";
import type { HubProgress, HubStats } from "../hub/hub.js";
import { type HubOptions, type HubSettings, resolveHub } from "../hub/hubOptions.js";
import { checkHubName } from "../budget/budget.js";
import { HubCharge } from "../budget/hubCharge.js";
import { ThreadHandle } from "./threadHandle.js";

export interface WorkerHubOptions extends Omit<HubOptions, "threshold"> {
  /** How many threads, 1 to 64. */
  readonly workers: number;
  /** A public number, or by each stream for itself (default). */
  readonly threshold?: Exclude<HubOptions["threshold"], "shared">;
}

/**
 * Makes a hub with threads. A smoother must be one of the built-in ones: a function cannot be sent to a thread.
 * @param script the compiled thread.ts; for programs that move it
 */
export function openWorkerHub(
  asked: WorkerHubOptions,
  script: URL = new URL("./thread.js", import.meta.url),
): WorkerHub {
  if (typeof asked !== "object" || (asked as unknown) === null)
    throw new TypeError(`openWorkerHub: expected an object of options, got ${shown(asked)}`);
  const { workers, ...options } = given(asked) as WorkerHubOptions;
  checkInteger("workers", workers, 1, 64);
  if (typeof options.smoother === "function")
    throw new TypeError("smoother: expected a built-in one with worker threads, got a function");
  if ((options.threshold as string | undefined) === "shared")
    throw new TypeError('threshold: expected a number or "noisy-max" with worker threads, got "shared"');
  if (options.key !== undefined && !(options.key instanceof Uint8Array))
    throw new TypeError("key: expected 32 bytes with worker threads, got a CryptoKey");
  const settings = resolveHub(options);
  valueStream({ ...settings.options, threshold: options.threshold ?? "noisy-max" }); // wrong options fail here
  return new WorkerHub(settings, options.store !== undefined, workers, script);
}

export class WorkerHub {
  readonly #settings: HubSettings;
  readonly #threads: ThreadHandle[];
  /** The odometer has the charge. */
  readonly #charged: Promise<HubCharge | undefined>;
  #isCharged = false;
  #closed: Promise<void> | undefined;

  constructor(settings: HubSettings, ownStore: boolean, workers: number, script: URL) {
    const { options, threshold, live, commitEvery, key, store, budget } = settings;
    this.#settings = settings;
    const workerData = {
      options: { ...options, threshold },
      live: Math.ceil(live / workers),
      commitEvery,
      key,
      durable: ownStore ? store.durable : undefined,
      charged: budget !== undefined,
    };
    const begins = async (name: string) => (await this.#charged)!.begin(name);
    this.#threads = Array.from(
      { length: workers },
      () => new ThreadHandle(new Worker(script, { workerData }), store, settings.atLeast, begins),
    );
    const release = valueStream({ ...options, threshold: threshold as number }).statement();
    this.#charged = snapshotKey(key).then((own) => HubCharge.open(budget, release, store, own));
    this.#charged.then(
      () => (this.#isCharged = true),
      () => undefined, // the first call rejects with it
    );
  }

  /** Receives a value for one stream and gives the private number for its position, `undefined` during a hold-out. */
  async push(name: string, value: number): Promise<number | undefined> {
    const [number] = await this.#push(name, Float64Array.of(checkValue(value)));
    return number;
  }

  /** Receives a batch for one stream and gives its published numbers. */
  async pushMany(name: string, values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.#push(name, checkValues(values));
  }

  /** The numbers that one stream published at positions [from, to), read again. */
  published(name: string, from: number, to: number): Promise<Float64Array> {
    return this.#ask(name, "published", from, to);
  }

  /** Sum and mean over published positions [from, to) of one stream. */
  range(name: string, from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.#ask(name, "range", from, to, options);
  }

  /** How far one stream is. */
  progress(name: string): Promise<HubProgress> {
    return this.#ask(name, "progress");
  }

  /** The privacy statement of one stream. */
  statement(name: string): Promise<Statement> {
    return this.#ask(name, "statement");
  }

  /** The privacy statement of one stream for people, as a short text. */
  explain(name: string): Promise<string> {
    return this.#ask(name, "explain");
  }

  /** The names of the streams: the list of `keys` if there is one, else those that have received a value. */
  async names(): Promise<string[]> {
    this.#checkOpen();
    const { list } = this.#settings.keys;
    if (list !== undefined) return [...list].sort();
    const names = await Promise.all(this.#threads.map((thread) => thread.ask<string[]>("names")));
    return [...new Set(names.flat())].sort();
  }

  /** Removes one stream from the store. A value for its name begins a new one. */
  remove(name: string): Promise<void> {
    return this.#ask(name, "remove");
  }

  /** Public counters, added up over the threads. */
  async stats(): Promise<HubStats> {
    this.#checkOpen();
    const all = await Promise.all(this.#threads.map((thread) => thread.ask<HubStats>("stats")));
    const names = Object.keys(all[0]!) as (keyof HubStats)[];
    return Object.fromEntries(
      names.map((name) => [name, all.reduce((sum, stats) => sum + stats[name], 0)]),
    ) as unknown as HubStats;
  }

  /** Stores every stream and ends the threads. Rejects if a stream could not be stored, after all were tried. */
  close(): Promise<void> {
    return (this.#closed ??= this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    const results = await Promise.allSettled(this.#threads.map((thread) => thread.ask("close")));
    await Promise.all(this.#threads.map((thread) => thread.end()));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  async #push(name: string, batch: Float64Array): Promise<Float64Array> {
    checkHubName(name);
    this.#checkOpen();
    if (!this.#settings.keys.has(name)) return new Float64Array(0);
    if (!this.#isCharged) await this.#charged;
    return this.#threadOf(name).push(name, batch);
  }

  async #ask<T>(name: string, ...[question, ...args]: Parameters<ThreadHandle["ask"]>): Promise<T> {
    checkHubName(name);
    this.#checkOpen();
    if (!this.#settings.keys.has(name))
      throw new RangeError(`name: expected one of the keys, got ${JSON.stringify(name)}`);
    await this.#charged;
    return this.#threadOf(name).ask<T>(question, name, ...args);
  }

  #checkOpen(): void {
    if (this.#closed !== undefined)
      throw new Error("hub: expected an open hub, got a closed one; make another one on the same store");
  }

  #threadOf(name: string): ThreadHandle {
    return this.#threads[hashOf(name) % this.#threads.length]!;
  }
}

/** FNV-1a, 32 bits: shares names out evenly, and tells nothing that the name does not. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
