/** Everything that touches the library: how a stream of a key is made, sealed, restored and fed. */
import type { webcrypto } from "node:crypto";

import { type PrivateStream, privateStream, restore, type StreamOptions } from "brume";

export type { StreamOptions } from "brume";

/** Options of every stream; the key of a record is its name. */
export type KeyedStreamOptions = Omit<StreamOptions, "name">;

export type KeyedStream = Pick<PrivateStream, "length" | "received" | "sequence" | "pushMany" | "snapshot">;

export function makeStream(name: string, options: KeyedStreamOptions): KeyedStream {
  return privateStream(named(name, options));
}

export function restoreStream(
  name: string,
  bytes: Uint8Array,
  key: webcrypto.CryptoKey,
  options: KeyedStreamOptions,
): Promise<KeyedStream> {
  return restore(bytes, key, named(name, options));
}

function named(name: string, options: KeyedStreamOptions): StreamOptions {
  const { unsafeSeed } = options;
  return { ...options, name, ...(unsafeSeed === undefined ? {} : { unsafeSeed: `${unsafeSeed}/${name}` }) };
}
