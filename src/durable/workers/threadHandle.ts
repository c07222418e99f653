/** The main thread's side of one thread: gathers values into batches, and lends it the store of the caller. */
import type { Worker } from "node:worker_threads";
import type { CheckedStore } from "../checkedStore.js";
import type { Begins } from "../hub/liveStreams.js";
import type { NamedSnapshot } from "../stores/store.js";
import { answerWith, Calls } from "./calls.js";
import {
  type AskMessage,
  type FromThread,
  joined,
  type PushedMessage,
  type Question,
  receiveError,
  type ToThread,
} from "./messages.js";

interface Waiting {
  readonly name: string;
  readonly batch: Float64Array;
  readonly resolve: (numbers: Float64Array) => void;
  readonly reject: (reason: Error) => void;
}

export class ThreadHandle {
  readonly #worker: Worker;
  readonly #store: CheckedStore;
  readonly #atLeast: (name: string) => number;
  readonly #begins: Begins;
  readonly #calls = new Calls();
  /** Batches that were sent, by message. */
  readonly #sent = new Map<number, readonly Waiting[]>();
  #waiting: Waiting[] = [];
  #messages = 0;
  /** Calls without an answer. */
  #running = 0;
  #gone: Error | undefined;

  constructor(worker: Worker, store: CheckedStore, atLeast: (name: string) => number, begins: Begins) {
    this.#worker = worker;
    this.#store = store;
    this.#atLeast = atLeast;
    this.#begins = begins;
    worker.on("message", (message: FromThread) => this.#receive(message));
    worker.on("error", (error: Error) =>
      this.#fail(new Error("hub: a thread ended with an error", { cause: error })),
    );
    worker.on("exit", () =>
      this.#fail(new Error("hub: a thread has ended; make another hub on the same store")),
    );
    worker.unref(); // it keeps the process alive only while calls are running
  }

  push(name: string, batch: Float64Array): Promise<Float64Array> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone);
      this.#begin();
      if (this.#waiting.push({ name, batch, resolve, reject }) === 1) setImmediate(() => this.#flush());
    });
  }

  ask<T>(question: Question, ...args: unknown[]): Promise<T> {
    this.#flush(); // questions come after the values before them
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    this.#begin();
    return this.#calls
      .call<T>((id) => this.#postQuestion({ kind: "ask", id, question, args }))
      .finally(() => this.#done(1));
  }

  #postQuestion(message: AskMessage): void {
    try {
      this.#post(message);
    } catch (cause) {
      throw new TypeError(
        `${message.question}: expected numbers and plain options, got something that cannot be sent to a thread`,
        { cause },
      );
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #flush(): void {
    if (this.#waiting.length === 0 || this.#gone !== undefined) return;
    const sent = this.#waiting;
    this.#waiting = [];
    try {
      this.#send(sent);
    } catch (reason) {
      for (const { reject } of sent) reject(reason as Error); // nothing was sent: no memory for it
      this.#done(sent.length);
    }
  }

  #send(sent: readonly Waiting[]): void {
    const id = ++this.#messages;
    const values = joined(sent.map(({ batch }) => batch));
    const lengths = Int32Array.from(sent, ({ batch }) => batch.length);
    const names = sent.map(({ name }) => name);
    this.#post({ kind: "push", id, names, lengths, values }, [values.buffer, lengths.buffer]);
    this.#sent.set(id, sent);
  }

  #receive(message: FromThread): void {
    if (message.kind === "pushed") this.#settle(message);
    else if (message.kind === "answer") this.#calls.settle(message);
    else
      void answerWith(
        message,
        () => this.#answer(message),
        (answer) => this.#post(answer),
      );
  }

  #settle({ id, lengths, numbers, errors }: PushedMessage): void {
    const sent = this.#sent.get(id)!;
    this.#sent.delete(id);
    let at = 0;
    let failed = 0;
    sent.forEach(({ resolve, reject }, i) => {
      if (lengths[i]! < 0) return reject(receiveError(errors[failed++]!));
      resolve(numbers.slice(at, at + lengths[i]!));
      at += lengths[i]!;
    });
    this.#done(sent.length);
  }

  #begin(): void {
    if (this.#running++ === 0) this.#worker.ref();
  }

  #done(calls: number): void {
    this.#running -= calls;
    if (this.#running === 0) this.#worker.unref();
  }

  async #answer({ question, args }: AskMessage): Promise<unknown> {
    const [first, second] = args as [never, never];
    if (question === "begins") return this.#begins(first);
    if (question === "get") return this.#store.get(first, this.#atLeast(first));
    if (question === "store names") return this.#store.names();
    if (question === "give back") return this.#store.giveBack(first);
    if (question === "store remove") return this.#store.remove(first, second);
    const snapshots = first as readonly NamedSnapshot[];
    const errors = await this.#store.putMany(snapshots);
    for (const error of errors) if (error !== undefined && error.code !== "conflict") throw error;
    if (snapshots.length === 1 && errors[0] !== undefined) throw errors[0];
    return errors.map((error) => error === undefined);
  }

  #fail(reason: Error): void {
    this.#gone ??= reason;
    for (const sent of [...this.#sent.values(), this.#waiting])
      for (const { reject } of sent) reject(this.#gone);
    this.#sent.clear();
    this.#waiting = [];
    this.#calls.rejectAll(this.#gone);
  }
}
