/** The state of one partition: its streams, how far `in` was processed, and the hashes that protect both. */
import { Refusal } from "brume/node";
import { readCommitted } from "./committed.js";
import { Keyed, type KeyedSettings } from "./keyed.js";
import { SetHash } from "./keyring.js";
import { LogClock } from "./logClock.js";
import {
  type Manifest,
  openManifest,
  readState,
  encryptManifest,
  SegmentHashes,
  type StateRecord,
  streamRecord,
} from "./manifest.js";
import type { LogRecord, NewRecord, Port } from "./port.js";
import { clockRules } from "./streams.js";
import { COUNTER_HEADER } from "./values.js";

export interface StateSettings extends KeyedSettings {
  readonly in: string;
  readonly state: string;
  readonly out: string;
  /** A snapshot of a stream is taken when it has this many values that no snapshot has. */
  readonly sealEvery: number;
  /** A snapshot is taken at the latest when a record this many offsets ago is in none: bounds the replay. */
  readonly replayLimit: number;
}

/** Facts about the topics, as the cluster says. */
export interface TopicFacts {
  readonly topics: readonly string[];
  readonly partitions: number;
}

export class PartitionState {
  /** By key, byte for byte (latin1). */
  readonly streams = new Map<string, Keyed>();
  /** First offset of `in` that was not processed. */
  next = 0;
  counter = 0;
  /** Time as the log tells it, for streams that begin now. */
  clock: LogClock;
  readonly segments: SegmentHashes;
  readonly #settings: StateSettings;
  readonly #facts: TopicFacts;
  readonly #hash: SetHash;
  /** Streams that no snapshot has as they are. */
  readonly #dirty = new Set<Keyed>();

  constructor(settings: StateSettings, facts: TopicFacts, start: number) {
    const { keys, place } = settings;
    this.#settings = settings;
    this.#facts = facts;
    this.next = start;
    this.clock = new LogClock(clockRules(settings.stream));
    this.#hash = new SetHash(keys.derive(keys.current, "set", place.group, place.partition));
    this.segments = new SegmentHashes(start);
  }

  add(keyed: Keyed): void {
    this.streams.set(keyed.key.toString("latin1"), keyed);
    if (keyed.snapshotSequence > 0) this.#hash.add(keyed.fingerprint);
    else this.#dirty.add(keyed);
  }

  touched(keyed: Keyed): void {
    this.#dirty.add(keyed);
  }

  /** Streams of which a snapshot is due. */
  due(all: boolean): Keyed[] {
    const { sealEvery, replayLimit } = this.#settings;
    const due: Keyed[] = [];
    for (const keyed of this.#dirty)
      if (
        all ||
        keyed.snapshotSequence === 0 ||
        keyed.sinceSnapshot >= sealEvery ||
        keyed.dirtyFrom! < this.next - replayLimit
      )
        due.push(keyed);
    return due;
  }

  async encrypt(keyed: Keyed): Promise<NewRecord> {
    if (keyed.snapshotSequence > 0) this.#hash.remove(keyed.fingerprint);
    this.#dirty.delete(keyed);
    const bytes = await keyed.encrypt(this.next);
    this.#hash.add(keyed.fingerprint);
    return streamRecord(keyed.name, keyed.snapshotAt, keyed.keyId, bytes);
  }

  /** The manifest after this transaction. */
  manifest(): NewRecord {
    const { keys, place } = this.#settings;
    let replayFrom = this.next;
    for (const { dirtyFrom } of this.#dirty) replayFrom = Math.min(replayFrom, dirtyFrom!);
    this.segments.split(this.next);
    this.segments.dropBefore(replayFrom);
    const manifest: Manifest = {
      ...this.#facts,
      next: this.next,
      counter: ++this.counter,
      streams: this.streams.size,
      hash: this.#hash.text,
      segments: this.segments.list,
      ...(this.clock.now === -Infinity ? {} : { clock: this.clock.state }),
    };
    return encryptManifest(manifest, keys, place);
  }
}

/**
 * Reads the committed state of a partition and checks it. The caller holds the writer of the partition, so nobody
 * else changes it.
 * @param replay takes records again that no snapshot has
 */
export async function loadState(
  port: Port,
  settings: StateSettings,
  facts: TopicFacts,
  replay: (state: PartitionState, records: readonly LogRecord[]) => void,
): Promise<PartitionState> {
  const { keys, place, state: topic, out, in: input } = settings;
  const { manifest, streams, manifestKey } = await readStateTopic(port, settings);
  const published = await lastCounter(port, out, place.partition);
  if (manifest === undefined) {
    if (published > 0 || streams.length > 0)
      throw new Refusal(
        `${topic}[${place.partition}]: expected a manifest, got none although numbers were published; state was lost`,
      );
    const { start } = await port.bounds(input, place.partition);
    return new PartitionState(settings, facts, start);
  }
  checkFacts(manifest, facts, topic, place.partition);
  if (published > manifest.counter)
    throw new Refusal(
      `${topic}[${place.partition}]: expected transaction ${published} or later, got ${manifest.counter}; an older state was put back`,
    );
  const state = new PartitionState(settings, facts, manifest.segments[0]![0]);
  state.clock = new LogClock(state.clock.rules, manifest.clock);
  state.counter = manifest.counter;
  const check = new SetHash(keys.derive(manifestKey, "set", place.group, place.partition));
  for (const keyed of await restoreAll(streams, settings)) {
    check.add(keyed.fingerprint);
    state.add(keyed);
  }
  if (state.streams.size !== manifest.streams || check.text !== manifest.hash)
    throw new Refusal(
      `${topic}[${place.partition}]: the streams are not those of the manifest; an older state was put back`,
    );
  await replaySegments(port, state, manifest, input, place.partition, replay);
  return state;
}

async function replaySegments(
  port: Port,
  state: PartitionState,
  { segments, next }: Manifest,
  input: string,
  partition: number,
  replay: (state: PartitionState, records: readonly LogRecord[]) => void,
): Promise<void> {
  for (const [i, [from, hash]] of segments.entries()) {
    if (i > 0) state.segments.beginAt(from);
    for await (const records of readCommitted(port, input, partition, from, segments[i + 1]?.[0] ?? next))
      replay(state, records);
    if (state.segments.list[state.segments.list.length - 1]![1] !== hash)
      throw new Refusal(
        `${input}[${partition}]: the records from offset ${from} are not those that were processed; ` +
          "going on would put the same noise on other values",
      );
  }
  state.next = next;
}

function checkFacts(manifest: Manifest, facts: TopicFacts, topic: string, partition: number): void {
  if (manifest.partitions !== facts.partitions)
    throw new Refusal(
      `${topic}[${partition}]: expected ${manifest.partitions} partitions, got ${facts.partitions}; partitions must not be added, make new topics`,
    );
  if (manifest.topics.join() !== facts.topics.join())
    throw new Refusal(
      `${topic}[${partition}]: a topic was deleted and made again; make new topics for all three`,
    );
}

async function readStateTopic(port: Port, { keys, place, state: topic }: StateSettings) {
  const { start, end } = await port.bounds(topic, place.partition);
  const streams = new Map<string, Extract<StateRecord, { kind: "stream" }>>();
  let last: LogRecord | undefined;
  for await (const records of readCommitted(port, topic, place.partition, start, end))
    for (const record of records) {
      const state = readState(record);
      if (state.kind === "manifest") last = record;
      else streams.set(state.name, state);
    }
  const manifestKey = last?.headers.find(([name]) => name === "key")?.[1].toString() ?? keys.current;
  return { manifest: last && openManifest(last, keys, place), streams: [...streams.values()], manifestKey };
}

/** Restores a few hundred at a time: each waits for a decryption, and all at once would take memory twice. */
async function* batches<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield await Promise.resolve(items.slice(at, at + size));
}

async function restoreAll(
  streams: readonly Extract<StateRecord, { kind: "stream" }>[],
  settings: StateSettings,
): Promise<Keyed[]> {
  const restored: Keyed[] = [];
  for await (const some of batches(streams, 256))
    restored.push(...(await Promise.all(some.map((stream) => Keyed.restore(stream, settings)))));
  return restored;
}

/** The transaction number in the last record of `out` that has one; 0 if nothing was published. */
async function lastCounter(port: Port, topic: string, partition: number): Promise<number> {
  const { start, end } = await port.bounds(topic, partition);
  for (let back = 1000; ; back *= 10) {
    const from = Math.max(start, end - back);
    let counter = 0;
    for await (const records of readCommitted(port, topic, partition, from, end))
      for (const { headers } of records)
        for (const [name, value] of headers) if (name === COUNTER_HEADER) counter = value.readDoubleBE(0);
    if (counter > 0 || from === start) return counter;
  }
}
