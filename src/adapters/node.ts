/** Publishers among Node streams: `pipeline(source, brumeTransform(publisher), sink)`. */
import { Transform } from "node:stream";
import { type Chunk, publishChunk, type ValueSink } from "./iterate.js";

/**
 * Values or batches (Float64Array) in, published numbers or batches out, in object mode; nothing during the
 * hold-out. A value that is refused destroys the stream with the reason. Destroying it leaves the publisher after
 * the last chunk it took: it can continue, or make a snapshot.
 */
export function nodeTransform(publisher: ValueSink): Transform {
  return new Transform({
    objectMode: true,
    transform(chunk: Chunk, _encoding, done) {
      publishChunk(publisher, chunk).then(
        (out) => done(null, out),
        (reason: Error) => done(reason),
      );
    },
  });
}
