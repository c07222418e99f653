/** Pushes values one by one into one stream, and in batches of many sizes into another. */
import { type PrivateStream, privateStream, type StreamOptions } from "../../src/index.js";

export interface Pushed {
  readonly stream: PrivateStream;
  readonly published: Float64Array;
}

export function waysToPush(options: StreamOptions, values: Float64Array): Pushed[] {
  const [single, batched] = [privateStream(options), privateStream(options)];
  const one = Array.from(values, (value) => single.push(value)).filter((x) => x !== undefined);
  const parts: number[] = [];
  for (let at = 0, size = 1; at < values.length; at += size, size = (size * 7) % 97)
    parts.push(...batched.pushMany(values.subarray(at, at + size)));
  return [
    { stream: single, published: Float64Array.from(one) },
    { stream: batched, published: Float64Array.from(parts) },
  ];
}
