import { createReadStream } from "node:fs";
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import {
  openStream,
  memoryStore,
  publishAll,
  restore,
  privateStream,
  webTransform,
  type Chunk,
} from "../../src/index.js";
import { nodeTransform } from "../../src/node.js";
import { longTailedStream } from "../support/streams.js";

const options = {
  epsilon: 1,
  max: 100,
  maxRange: 64,
  tuning: { fanout: 4 },
  holdout: 64,
  unsafeSeed: "streams",
} as const;
const key = new Uint8Array(32).fill(9);
const values = longTailedStream(500, 120, "streams");
const expected = [...privateStream(options).pushMany(values)];

/** Chunks of the values: single numbers, or batches of odd sizes, the first within the hold-out. */
const chunkings: Record<string, () => Chunk[]> = {
  values: () => [...values],
  batches: () => [0, 7, 7, 70, 200, 499].map((from, i, cuts) => values.slice(from, cuts[i + 1] ?? 500)),
  mixed: () => [values.slice(0, 100), ...values.slice(100, 150), values.slice(150)],
};
const flat = (chunks: Iterable<Chunk>): number[] =>
  [...chunks].flatMap((chunk) => (typeof chunk === "number" ? [chunk] : [...chunk]));

/** `ReadableStream.from`, which the browsers' types do not have yet. */
function webSource(chunks: Iterable<Chunk>): ReadableStream<Chunk> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream<Chunk>(
    {
      pull(controller) {
        const next = iterator.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** A sink that remembers. */
function collector(): { sink: Writable; chunks: Chunk[] } {
  const chunks: Chunk[] = [];
  const sink = new Writable({
    objectMode: true,
    write(chunk: Chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { sink, chunks };
}

describe.each(Object.keys(chunkings))("%s in, the same bits out", (name) => {
  const chunks = chunkings[name]!;

  test("Node pipeline", async () => {
    const { sink, chunks: out } = collector();
    await pipeline(Readable.from(chunks()), nodeTransform(privateStream(options)), sink);
    expect(flat(out)).toEqual(expected);
  });

  test("Web streams", async () => {
    const out: Chunk[] = [];
    await webSource(chunks())
      .pipeThrough(webTransform(privateStream(options)))
      .pipeTo(new WritableStream({ write: (chunk: Chunk) => void out.push(chunk) }));
    expect(flat(out)).toEqual(expected);
  });

  test("iterators", async () => {
    const out: Chunk[] = [];
    for await (const chunk of publishAll(privateStream(options), chunks())) out.push(chunk);
    expect(flat(out)).toEqual(expected);
  });

  test("a kept publisher", async () => {
    const kept = await openStream({ ...options, name: "s", store: memoryStore(), key });
    const { sink, chunks: out } = collector();
    await pipeline(Readable.from(chunks()), nodeTransform(kept), sink);
    expect(flat(out)).toEqual(expected);
  });
});

test("batches come out as batches, one for one after the hold-out", async () => {
  const out: Chunk[] = [];
  for await (const chunk of publishAll(privateStream(options), chunkings["batches"]!())) out.push(chunk);
  expect(out.map((chunk) => (chunk as Float64Array).length)).toEqual([6, 130, 299, 1]);
});

describe("back-pressure: the source is read no faster than the sink takes", () => {
  /** Counts how far it was read. */
  function counted(): { source: Generator<number>; read: () => number } {
    let read = 0;
    function* source() {
      for (;;) {
        read++;
        yield 1;
      }
    }
    return { source: source(), read: () => read };
  }
  const past = () => privateStream({ ...options, holdout: 0, threshold: 10 });

  test("Node", async () => {
    const { source, read } = counted();
    const stalled = new Writable({ objectMode: true, highWaterMark: 1, write: () => undefined });
    const done = pipeline(Readable.from(source), nodeTransform(past()), stalled).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(read()).toBeLessThan(100); // three buffers of 16 objects or fewer
    stalled.destroy();
    await done;
  });

  test("Web", async () => {
    const { source, read } = counted();
    const reader = webSource(source).pipeThrough(webTransform(past())).getReader();
    for (let i = 0; i < 10; i++) await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(read()).toBeLessThan(20);
    await reader.cancel();
  });

  test("iterators", async () => {
    const { source, read } = counted();
    const numbers = publishAll(past(), source);
    for (let i = 0; i < 10; i++) await numbers.next();
    expect(read()).toBe(10);
    await numbers.return();
    expect(source.next().done).toBe(true);
  });
});

describe("errors go through, and never quote a value", () => {
  const bad = () => [...values.slice(0, 100), NaN, 1];

  test("a refused value", async () => {
    const publisher = privateStream(options);
    const { sink, chunks } = collector();
    await expect(pipeline(Readable.from(bad()), nodeTransform(publisher), sink)).rejects.toThrow(
      "value: expected a finite number",
    );
    expect(publisher.received).toBe(100);
    expect(chunks.length).toBeLessThanOrEqual(36);
    const web = webSource(bad()).pipeThrough(webTransform(privateStream(options)));
    await expect(web.pipeTo(new WritableStream())).rejects.toThrow("value: expected a finite number");
    const numbers = publishAll(privateStream(options), bad());
    for (let i = 0; i < 36; i++) await numbers.next();
    await expect(numbers.next()).rejects.toThrow("value: expected a finite number");
  });

  test("a failing source, a failing sink", async () => {
    const missing = createReadStream("/nowhere/at/all");
    const parse = new Transform({ objectMode: true });
    await expect(
      pipeline(missing, parse, nodeTransform(privateStream(options)), collector().sink),
    ).rejects.toThrow("ENOENT");
    const broken = new Writable({ objectMode: true, write: (_, __, done) => done(new Error("disk full")) });
    await expect(
      pipeline(Readable.from([...values]), nodeTransform(privateStream(options)), broken),
    ).rejects.toThrow("disk full");
  });
});

describe("a stream that is aborted leaves a publisher that can make a snapshot and continue", () => {
  const goesOn = async (publisher: ReturnType<typeof privateStream>) => {
    const { received, length } = publisher;
    expect(received).toBeGreaterThan(64);
    expect(received).toBeLessThan(500);
    expect([...publisher.published(0, length)]).toEqual(expected.slice(0, length));
    const restored = await restore(await publisher.snapshot(key), key, options);
    expect([...restored.pushMany(values.slice(received))]).toEqual(expected.slice(length));
  };

  test("Node, by a signal", async () => {
    const publisher = privateStream(options);
    const abort = new AbortController();
    const sink = new Writable({
      objectMode: true,
      write: (_, __, done) => {
        if (publisher.length > 50) abort.abort();
        done();
      },
    });
    await expect(
      pipeline(Readable.from([...values]), nodeTransform(publisher), sink, { signal: abort.signal }),
    ).rejects.toThrow("abort");
    await goesOn(publisher);
  });

  test("Web, by a signal", async () => {
    const publisher = privateStream(options);
    const abort = new AbortController();
    const sink = new WritableStream<Chunk>({
      write: () => {
        if (publisher.length > 50) abort.abort();
      },
    });
    await expect(
      webSource([...values])
        .pipeThrough(webTransform(publisher))
        .pipeTo(sink, { signal: abort.signal }),
    ).rejects.toThrow("abort");
    await goesOn(publisher);
  });
});
