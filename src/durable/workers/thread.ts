/** One thread of a hub: a hub of its own for its share of the names. Run by `openWorkerHub`. */
import { parentPort, workerData } from "node:worker_threads";
import type { Hub } from "../hub.js";
import { openHub } from "../openHub.js";
import type { NamedSnapshot, Store, StoredSnapshot } from "../stores/store.js";
import { answerWith, Calls } from "./calls.js";
import {
  type FromThread,
  joined,
  type PushMessage,
  type Question,
  type SentError,
  sendError,
  type StoreQuestion,
  type ThreadData,
  type ToThread,
} from "./messages.js";

const port = parentPort!;
const calls = new Calls();
const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const ask = <T>(question: StoreQuestion, ...args: unknown[]) =>
  calls.call<T>((id) => post({ kind: "ask", id, question, args }));

/** The store of the caller, which lives in the main thread. */
const storeOf = (durable: boolean): Store => ({
  durable,
  get: (name) => ask<StoredSnapshot | undefined>("get", name),
  async put(name, sequence, bytes) {
    await ask("putMany", [{ name, sequence, bytes }]);
  },
  putMany: (snapshots: readonly NamedSnapshot[]) => ask<readonly boolean[]>("putMany", snapshots),
  giveBack: (name) => ask<undefined>("give back", name),
  names: () => ask<readonly string[]>("store names"),
  remove: (name, sequence) => ask<undefined>("store remove", name, sequence),
});

const { options, live, commitEvery, key, durable } = workerData as ThreadData;
const hub = openHub({
  ...{ ...options, live, commitEvery, key },
  ...(durable === undefined ? {} : { store: storeOf(durable) }),
});

async function push({ id, names, lengths, values }: PushMessage): Promise<void> {
  let at = 0;
  const results = await Promise.allSettled(
    names.map((name, i) => {
      const start = at;
      at += lengths[i]!;
      // A single value takes the short way through the hub.
      return lengths[i] === 1
        ? hub.push(name, values[start]!).then((number) => (number === undefined ? [] : [number]))
        : hub.pushMany(name, values.subarray(start, at));
    }),
  );
  const errors: SentError[] = [];
  const parts = results.map((result) => {
    if (result.status === "fulfilled") return Float64Array.from(result.value);
    errors.push(sendError(result.reason));
    return undefined;
  });
  const numbers = joined(parts.map((part) => part ?? new Float64Array(0)));
  const sizes = Int32Array.from(parts, (part) => part?.length ?? -1);
  post({ kind: "pushed", id, lengths: sizes, numbers, errors }, [numbers.buffer, sizes.buffer]);
}

/** What may be called by name: nothing else of the hub. */
const QUESTIONS: Readonly<Record<Question, (hub: Hub, args: readonly never[]) => Promise<unknown>>> = {
  published: (hub, [name, from, to]) => hub.published(name!, from!, to!),
  range: (hub, [name, from, to, options]) => hub.range(name!, from!, to!, options),
  progress: (hub, [name]) => hub.progress(name!),
  statement: (hub, [name]) => hub.statement(name!),
  explain: (hub, [name]) => hub.explain(name!),
  remove: (hub, [name]) => hub.remove(name!),
  names: (hub) => hub.names(),
  stats: (hub) => Promise.resolve(hub.stats()),
  close: (hub) => hub.close(),
};

port.on("message", (message: ToThread) => {
  if (message.kind === "push") void push(message);
  else if (message.kind === "answer") calls.settle(message);
  else
    void answerWith(
      message,
      () => QUESTIONS[message.question as Question](hub, message.args as readonly never[]),
      post,
    );
});
