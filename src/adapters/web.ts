/** Publishers among Web streams: `source.pipeThrough(webTransform(publisher)).pipeTo(sink)`. */
import { type Chunk, publishChunk, type ValueSink } from "./iterate.js";

/**
 * Values or batches (Float64Array) in, published numbers or batches out; nothing during the hold-out. A value that
 * is refused errors the stream. Aborting it leaves the publisher after the last chunk it received: it can
 * continue, or make a snapshot.
 */
export function webTransform(publisher: ValueSink): TransformStream<Chunk, Chunk> {
  return new TransformStream<Chunk, Chunk>({
    async transform(chunk, controller) {
      const out = await publishChunk(publisher, chunk);
      if (out !== undefined) controller.enqueue(out);
    },
  });
}
