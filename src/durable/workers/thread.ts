/** One thread of a hub: a hub of its own for its share of the names. Run by `openWorkerHub`. */
import { parentPort, workerData } from "node:worker_threads";
import { Hub } from "../hub/hub.js";
import { resolveHub } from "../hub/hubOptions.js";
import type { NamedSnapshot, Store, StoredSnapshot } from "../stores/store.js";
import { answerWith, Calls } from "./calls.js";
import {
  type FromThread,
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

const { options, live, commitEvery, key, durable, charged } = workerData as ThreadData;
const settings = resolveHub({
  ...{ ...options, live, commitEvery, key },
  ...(durable === undefined ? {} : { store: storeOf(durable) }),
});
const hub = new Hub(settings, charged ? (name) => ask<undefined>("begins", name) : undefined);

/** The result of a call: numbers, one number, none, or an error. */
type Given = Float64Array | number | undefined | { readonly error: SentError };

async function push({ id, names, lengths, values }: PushMessage): Promise<void> {
  const given: Given[] = new Array<Given>(names.length);
  let at = 0;
  await Promise.all(
    names.map((name, i) => {
      const start = at;
      at += lengths[i]!;
      // A single value takes the short way through the hub.
      const call: Promise<Given> =
        lengths[i] === 1
          ? hub.push(name, values[start]!)
          : Hub.receive(hub, name, values.subarray(start, at)); // the main thread has checked them
      return call.then(
        (numbers) => void (given[i] = numbers),
        (error: unknown) => void (given[i] = { error: sendError(error) }),
      );
    }),
  );
  reply(id, given);
}

function reply(id: number, given: readonly Given[]): void {
  const errors: SentError[] = [];
  const sizes = new Int32Array(given.length);
  let length = 0;
  for (let i = 0; i < given.length; i++) {
    sizes[i] = sizeOf(given[i]);
    length += Math.max(0, sizes[i]!);
  }
  const numbers = new Float64Array(length);
  let at = 0;
  for (const one of given) {
    if (typeof one === "number") numbers[at++] = one;
    else if (one instanceof Float64Array) {
      numbers.set(one, at);
      at += one.length;
    } else if (one !== undefined) errors.push(one.error);
  }
  post({ kind: "pushed", id, lengths: sizes, numbers, errors }, [numbers.buffer, sizes.buffer]);
}

/** −1 for an error. */
function sizeOf(given: Given): number {
  if (given === undefined) return 0;
  if (typeof given === "number") return 1;
  return given instanceof Float64Array ? given.length : -1;
}

/** Methods of the hub that may be called by name; no others. */
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
