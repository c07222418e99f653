/**
 * Releases a stream of values in [0, max] under event-level ε-differential privacy.
 *
 *     value ─▶ Threshold ─▶ Perturber ─▶ Smoother ─▶ released value
 *
 * The first `holdout` values choose θ (and give a first prediction) and are never released. Threshold, warm start
 * and perturber read disjoint values, so their ε compose in parallel: ε in all (docs/privacy.md).
 */
import { checkValues, refuseValue } from "../core/checks.js";
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import { type Statement, explainStatement, NOT_PROTECTED, RANDOMNESS } from "./statement.js";
import type { RangeAnswer } from "./answer.js";
import type { RangeOptions, PrivateStream } from "./system.js";
import { BlockPublisher } from "./blockPublisher.js";
import { answerRange, checkPublished } from "./publisher.js";
import { heldOut, resolveSettings, type Settings, type StreamOptions } from "./options.js";
import { smootherName } from "./smoothers/index.js";
import { checkSnapshotKey, SALT_LENGTH, type SnapshotKey, StreamCipher } from "./sealing.js";
import {
  encodedParameters,
  encodeState,
  type OpenedSnapshot,
  openSnapshot,
  parametersOf,
  sealSnapshot,
} from "./snapshot.js";
import type { Decoder, Encoder } from "./codec.js";
import { type Beginning, type Holdout, makeHoldout } from "./holdout.js";
import { clampedShare, stagesOf, warningsOf } from "./holdoutStatement.js";
import { withSkipped } from "./shape.js";

/** Makes a stream: `push` a value, get its private number. This is ToPS. */
export function privateStream(options: StreamOptions): PrivateStream {
  return HoldoutStream.begin(options);
}

/**
 * A stream that continues after the moment of `snapshot`, bit for bit. Needs the options the stream was made with; a
 * function of your own as smoother comes with them again.
 */
export function restore(bytes: Uint8Array, key: SnapshotKey, options: StreamOptions): Promise<PrivateStream> {
  return HoldoutStream.restore(bytes, key, options);
}

export class HoldoutStream implements PrivateStream {
  readonly #settings: Settings;
  readonly #core: Core;
  readonly #key: Uint32Array;
  /** Until its last value is in. */
  #holdout: Holdout | undefined;
  /** What the hold-out decided. */
  #beginning: Beginning | undefined;
  #release: BlockPublisher | undefined;
  #sequence = 0;
  /** The salt of the key that encrypts this stream's snapshots. */
  #salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH));

  /**
   * @param key all randomness of the release; a second release must not use it again
   */
  constructor(settings: Settings, core: Core, key: Uint32Array) {
    this.#settings = settings;
    this.#core = core;
    this.#key = key;
    this.#holdout = makeHoldout(core, key, settings);
    if (this.#holdout.done) this.#begin();
  }

  static begin(options: StreamOptions): HoldoutStream {
    const settings = resolveSettings(options);
    const core = chooseCore(settings.core);
    const key = settings.unsafeSeed === undefined ? secretKey() : unsafeKey(settings.unsafeSeed);
    return new HoldoutStream(settings, core, key);
  }

  static async restore(bytes: Uint8Array, key: SnapshotKey, options: StreamOptions): Promise<HoldoutStream> {
    const settings = resolveSettings(options);
    const snapshot = await openSnapshot(bytes, key, parametersOf(settings));
    return HoldoutStream.#load(settings, chooseCore(settings.core), snapshot);
  }

  get length(): number {
    return this.#release?.length ?? 0;
  }

  get received(): number {
    return (this.#holdout?.held ?? heldOut(this.#settings)) + this.length;
  }

  get sequence(): number {
    return this.#sequence;
  }

  push(value: number): number | undefined {
    if (!Number.isFinite(value)) refuseValue();
    if (this.#release !== undefined) return this.#release.push(value);
    this.#hold(value);
    return undefined;
  }

  pushMany(values: Float64Array | readonly number[]): Float64Array {
    // Once released, the kernel checks a typed batch while it adds it up: one pass less over the values.
    if (this.#release !== undefined && values instanceof Float64Array) return this.#release.pushMany(values);
    const batch = checkValues(values);
    let next = 0;
    while (this.#release === undefined && next < batch.length) this.#hold(batch[next++]!);
    return this.#release?.pushMany(batch.subarray(next)) ?? new Float64Array(0);
  }

  range(from: number, to: number, options: RangeOptions = {}): RangeAnswer {
    const usual = this.#settings.variant === "paper" ? "published" : "best";
    return answerRange(this.#release, from, to, options, usual);
  }

  published(from: number, to: number): Float64Array {
    checkPublished(this.#release, "published", from, to);
    return Float64Array.from({ length: to - from }, (_, i) => this.#release!.publishedAt(from + i));
  }

  async snapshot(key: SnapshotKey): Promise<Uint8Array> {
    checkSnapshotKey(key);
    const plain = this.#encode(); // before anything is awaited: the snapshot is of this moment
    const sequence = ++this.#sequence;
    return sealSnapshot(await this.cipher(key), sequence, plain);
  }

  /** What encrypts this stream's snapshots: made once by callers who take many. */
  cipher(key: SnapshotKey): Promise<StreamCipher> {
    return StreamCipher.make(key, this.#salt);
  }

  /** A snapshot, at once where the platform's cipher allows. */
  seal(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    const plain = this.#encode();
    return sealSnapshot(cipher, ++this.#sequence, plain);
  }

  #encode(): Uint8Array<ArrayBuffer> {
    return encodeState(encodedParameters(this.#settings), (writer) => this.#save(writer));
  }

  /** @param snapshot its state is what `#save` wrote under the same settings */
  static #load(settings: Settings, core: Core, { sequence, salt, state }: OpenedSnapshot): HoldoutStream {
    const loaded = new HoldoutStream(settings, core, state.words(8));
    loaded.#sequence = sequence;
    loaded.#salt = salt;
    loaded.#continue(state);
    if (!state.atEnd)
      throw new Error("snapshot: expected nothing behind the state; made by another version?");
    return loaded;
  }

  statement(): Statement {
    const settings = this.#settled;
    const { epsilon, max, resolution, fanout, levels, skipped, blockLength, maxRange } = settings;
    const units = this.#beginning?.theta ?? this.#holdout?.theta;
    const theta = units === undefined ? null : units * resolution;
    return {
      system: this.#settings.variant === "paper" ? "ToPS, as in the paper" : "ToPS",
      definition: "event-level differential privacy",
      neighbours: "streams of the same length that differ in the value at one position",
      unit: "one value",
      epsilon,
      delta: 0,
      private: this.#settings.unsafeSeed === undefined,
      composition:
        "The stages read disjoint values and every forest of noise covers values of its own: parallel composition, ε in all.",
      stages: stagesOf(settings),
      threshold: theta,
      max,
      resolution,
      fanout,
      levels,
      skipLevels: skipped,
      blockLength,
      maxRange,
      smoother: smootherName(this.#settings.smoother) + (this.#release?.smootherTrouble ?? ""),
      noiseScale: theta === null ? null : (levels * theta) / epsilon,
      noise: "discrete Laplace, sampled exactly",
      randomness: this.#settings.unsafeSeed === undefined ? RANDOMNESS.secret : RANDOMNESS.unsafe,
      core: {
        name: this.#core.name,
        note:
          this.#core.name === "js" && this.#settings.core === "auto"
            ? "WebAssembly could not be compiled here; same answers, slower"
            : "",
      },
      published: this.length,
      notProtected: NOT_PROTECTED,
      settled: this.#beginning !== undefined || settings.probing === 0,
      clampedShare: clampedShare(this.#beginning?.above, epsilon),
      warnings: warningsOf(settings, units),
    };
  }

  explain(): string {
    return explainStatement(this.statement());
  }

  /** Bytes of state held besides the range index. */
  get bytes(): number {
    return (this.#holdout?.bytes ?? 0) + (this.#release?.bytes ?? 0);
  }

  /** The settings, with the levels that the hold-out decided on once it has. */
  get #settled(): Settings {
    return withSkipped(this.#settings, this.#beginning?.skipped ?? this.#settings.skipped);
  }

  #save(writer: Encoder): void {
    writer.words(this.#key);
    writer.double(Number(this.#release !== undefined));
    if (this.#release === undefined) return this.#holdout!.save(writer);
    const { theta, skipped, mean, above } = this.#beginning!;
    for (const x of [theta, skipped, mean, above?.count ?? 0, above?.values ?? 0]) writer.double(x);
    this.#release.save(writer);
  }

  #continue(reader: Decoder): void {
    if (reader.double() === 0) return this.#holdout!.load(reader);
    const [theta, skipped, mean] = [reader.double(), reader.double(), reader.double()];
    const above = { count: reader.double(), values: reader.double() };
    this.#publishFrom({ theta, skipped, mean, ...(above.values === 0 ? {} : { above }) });
    this.#release!.load(reader);
  }

  #hold(value: number): void {
    this.#holdout!.add(value);
    if (this.#holdout!.done) this.#begin();
  }

  #begin(): void {
    this.#publishFrom(this.#holdout!.begin());
  }

  #publishFrom(beginning: Beginning): void {
    const { theta, skipped, mean } = beginning;
    const settings = withSkipped(this.#settings, skipped);
    this.#release = new BlockPublisher(this.#core, this.#key, settings, theta, mean);
    this.#beginning = beginning;
    this.#holdout = undefined;
  }
}
