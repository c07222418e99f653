/** Messages between a hub and its threads. Values and numbers travel in one buffer that is handed over, not copied. */
import { StoreError, type StoreErrorCode } from "../stores/store.js";
import type { EachOptions } from "../hub/hubOptions.js";
import type { StreamOptions } from "../../stream/options.js";

/** Given to a thread once. */
export interface ThreadData {
  readonly options: EachOptions & Pick<StreamOptions, "threshold">;
  readonly live: number;
  readonly commitEvery: number;
  readonly key: Uint8Array;
  /** Whether the store of the caller is durable; undefined if each thread has one in memory. */
  readonly durable: boolean | undefined;
  /** Whether the main thread charges streams that begin to an odometer. */
  readonly charged: boolean;
}

/** The questions of a hub that are sent one by one. */
export type Question =
  "published" | "range" | "progress" | "statement" | "explain" | "names" | "remove" | "stats" | "close";

/** Batches for many streams: `lengths[i]` values for `names[i]`, one after the other. */
export interface PushMessage {
  readonly kind: "push";
  readonly id: number;
  readonly names: readonly string[];
  readonly lengths: Int32Array;
  readonly values: Float64Array;
}

/** A length of −1 stands for an error, which `errors` has. */
export interface PushedMessage {
  readonly kind: "pushed";
  readonly id: number;
  readonly lengths: Int32Array;
  readonly numbers: Float64Array;
  readonly errors: readonly SentError[];
}

export interface AskMessage {
  readonly kind: "ask";
  readonly id: number;
  readonly question: Question | StoreQuestion;
  readonly args: readonly unknown[];
}

export interface AnswerMessage {
  readonly kind: "answer";
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: SentError;
}

/** Questions of a thread to the caller: about its store, and whether a stream may begin. */
export type StoreQuestion = "get" | "putMany" | "give back" | "store names" | "store remove" | "begins";

export type ToThread = PushMessage | AskMessage | AnswerMessage;
export type FromThread = PushedMessage | AskMessage | AnswerMessage;

/** An error as plain data: its class does not survive the way. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly code: StoreErrorCode | undefined;
}

export function sendError(error: unknown): SentError {
  const { name, message } = error instanceof Error ? error : new Error("hub: a call failed");
  return { name, message, code: error instanceof StoreError ? error.code : undefined };
}

const CLASSES: Readonly<Record<string, ErrorConstructor>> = { TypeError, RangeError };

export function receiveError({ name, message, code }: SentError): Error {
  if (code !== undefined) return new StoreError(code, message);
  return new (CLASSES[name] ?? Error)(message);
}

/** Parts one after the other in a buffer of their own, which can be handed over. */
export function joined(parts: readonly Float64Array[]): Float64Array<ArrayBuffer> {
  const out = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
