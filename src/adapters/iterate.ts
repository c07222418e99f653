/** Publishers among iterators: `for await (const number of publishAll(publisher, source)) …`. */

/** A stream that adapters push values into, durable or not. */
export interface ValueSink {
  push(value: number): number | undefined | Promise<number | undefined>;
  pushMany(values: Float64Array): Float64Array | Promise<Float64Array>;
}

/** A value, or a batch of values. */
export type Chunk = number | Float64Array;

/**
 * Publishes a chunk and returns the numbers: a number for a value, an array for a batch; `undefined` while there is
 * nothing to say, during the hold-out.
 */
export async function publishChunk(publisher: ValueSink, chunk: Chunk): Promise<Chunk | undefined> {
  if (!(chunk instanceof Float64Array)) return publisher.push(chunk);
  const published = await publisher.pushMany(chunk);
  return published.length === 0 ? undefined : published;
}

/**
 * Publishes what a source gives, value by value or batch by batch, no faster than the result is read. When the
 * reader stops, the source is closed and the publisher stays usable.
 */
export async function* publishAll(
  publisher: ValueSink,
  source: AsyncIterable<Chunk> | Iterable<Chunk>,
): AsyncGenerator<Chunk, void, undefined> {
  for await (const chunk of source) {
    const out = await publishChunk(publisher, chunk);
    if (out !== undefined) yield out;
  }
}
