/**
 * Releases a stream of values in [min, max] under event-level ε-differential privacy.
 *
 *     value − min ─▶ Threshold ─▶ Forest ─▶ Smoother ─▶ published value + min
 *
 * The first `holdout` values choose θ (and give a first prediction) and are never published. Threshold, warm start
 * and forest read disjoint values, so their ε compose in parallel: ε in all (docs/privacy-values.md).
 */
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { secretKey } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import type { ValueBatch } from "../core/batches.js";
import { checkFinite, checkValue } from "../core/checks.js";
import type { RangeAnswer } from "./answer/answer.js";
import { checkBinding, writeBinding } from "./binding.js";
import { BlockPublisher } from "./release/blockPublisher.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";
import { drawingValues } from "./release/firstTree.js";
import type { Hidden } from "./answer/clipping.js";
import { type Beginning, type Holdout, makeHoldout } from "./holdout/holdout.js";
import { clampedShare, stagesOf, warningsOf } from "./holdout/holdoutStatement.js";
import { resolveSettings, type Settings, type StreamOptions } from "./options.js";
import { checkPublished } from "./publisher.js";
import { refiningEpsilon } from "./release/refining.js";
import type { SnapshotKey, StreamCipher } from "../snapshot/streamCipher.js";
import { withSkipped } from "./shape.js";
import { smootherName } from "./predict/smoothers/index.js";
import { encode, openBound, type OpenedSnapshot } from "../snapshot/snapshot.js";
import { SnapshotSequence } from "../snapshot/snapshotSequence.js";
import { type SystemProgress, HoldoutSystem, type SystemParts } from "./holdoutSystem.js";
import { makeStatement, type Statement } from "./statement.js";
import type { PrivateStream, RangeOptions } from "./system.js";
import { choiceTables } from "./holdout/choice.js";
import { followRule } from "./release/follow.js";
import { refiningChoice } from "./release/refining.js";
import { firstShare, nodeEpsilon } from "./epsilonShares.js";

/** Makes a stream of values: `push` a value, get its private number. This is ToPS. */
export function valueStream(options: StreamOptions): PrivateStream {
  return HoldoutStream.begin(resolveSettings(options));
}

/**
 * A stream that continues after the moment of `snapshot`, bit for bit. Needs the options the stream was made with; a
 * function of your own as smoother comes with them again.
 */
export async function restoreValues(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: StreamOptions,
): Promise<PrivateStream> {
  return HoldoutStream.restore(bytes, key, resolveSettings(options));
}

export class HoldoutStream extends HoldoutSystem<BlockPublisher> implements PrivateStream {
  readonly #settings: Settings;
  readonly #key: Uint32Array;
  readonly #name: string;
  readonly #snapshots = new SnapshotSequence(() => this.#encode());

  /**
   * @param settings the streams of a hub share one object
   * @param key all randomness of the stream; a second stream must not use it again
   * @param name which of the streams that share settings
   * @param snapshot its state is what `#encode` wrote under the same settings, behind the key
   */
  constructor(
    settings: Settings,
    core: Core,
    key: Uint32Array,
    name = settings.output.name,
    snapshot?: OpenedSnapshot,
  ) {
    const parts = new Tops(settings, core, key);
    super(parts, snapshot && parts.loadProgress(snapshot.state));
    this.#settings = settings;
    this.#key = key;
    this.#name = name;
    if (snapshot !== undefined) this.#snapshots.resume(snapshot.sequence, snapshot.salt);
  }

  /** A stream that has seen no value. */
  static begin(settings: Settings, name = settings.output.name): HoldoutStream {
    const key =
      settings.privacy.unsafeSeed === undefined ? secretKey() : unsafeKey(settings.privacy.unsafeSeed);
    return new (kindOf(settings))(settings, chooseCore(settings.output.core), key, name);
  }

  /** One that resumes from a snapshot. */
  static async restore(
    bytes: Uint8Array,
    key: SnapshotKey,
    settings: Settings,
    name = settings.output.name,
  ): Promise<HoldoutStream> {
    const snapshot = await openBound(bytes, key, (bound) => checkBinding(bound, settings, name));
    try {
      const Kind = kindOf(settings);
      return new Kind(settings, chooseCore(settings.output.core), snapshot.state.words(8), name, snapshot);
    } finally {
      snapshot.state.wipe();
    }
  }

  get sequence(): number {
    return this.#snapshots.sequence;
  }

  published(from: number, to: number): Float64Array {
    this.checkIdle();
    const publisher = this.progress.release?.publisher;
    checkPublished(publisher, "published", from, to);
    return Float64Array.from({ length: to - from }, (_, i) => publisher!.publishedAt(from + i));
  }

  snapshot(key: SnapshotKey): Promise<Uint8Array> {
    return this.#snapshots.take(key);
  }

  /** Makes the cipher of this stream's snapshots, once for callers who take many. */
  cipher(key: SnapshotKey): StreamCipher | Promise<StreamCipher> {
    return this.#snapshots.cipher(key);
  }

  /** A snapshot, at once where the platform's cipher allows. */
  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    return this.#snapshots.encrypt(cipher);
  }

  #encode(): Uint8Array<ArrayBuffer> {
    this.checkIdle();
    return encode((writer) => {
      writeBinding(writer, this.#settings, this.#name);
      writer.words(this.#key);
      saveProgress(writer, this.progress);
    });
  }
}

/** Streams with a `min` are a kind of their own, so that others do not pay for it. */
const kindOf = ({ grid: { min } }: Settings): typeof HoldoutStream =>
  min === 0 ? HoldoutStream : ShiftedStream;

/**
 * A stream of values less `min`, shifted back: a position's number by `min`, the sum of n positions by n·min. How many
 * positions a range has is public, so that the shift is exact and has no noise.
 */
class ShiftedStream extends HoldoutStream {
  readonly #min: number;
  readonly #max: number;

  constructor(...parts: ConstructorParameters<typeof HoldoutStream>) {
    super(...parts);
    [this.#min, this.#max] = [parts[0].grid.min, parts[0].grid.max];
  }

  override push(value: number): number | undefined {
    const number = super.push(this.#shift(checkValue(value)));
    return number === undefined ? undefined : number + this.#min;
  }

  override pushMany(values: ValueBatch): Float64Array {
    const own = new Float64Array(this.readBatch(values)); // another thread may change the caller's
    return this.receive(checkFinite(own));
  }

  override receive(batch: Float64Array): Float64Array {
    return this.#shiftBack(super.receive(batch.map((value) => this.#shift(value))));
  }

  override published(from: number, to: number): Float64Array {
    return this.#shiftBack(super.published(from, to));
  }

  override range(from: number, to: number, options?: RangeOptions): RangeAnswer {
    const { sum, mean, low, high, ...rest } = super.range(from, to, options);
    const all = (to - from) * this.#min;
    return {
      sum: sum + all,
      mean: from === to ? 0 : mean + this.#min,
      low: low + all,
      high: high + all,
      ...rest,
    };
  }

  /** From 0 to max − min. Clamped first: what a finite value becomes is finite. */
  #shift(value: number): number {
    return Math.min(Math.max(value, this.#min), this.#max) - this.#min;
  }

  /** In place: these are numbers that were made for this call. */
  #shiftBack(numbers: Float64Array): Float64Array {
    for (let i = 0; i < numbers.length; i++) numbers[i]! += this.#min;
    return numbers;
  }
}

const COMPOSITION = {
  still:
    "The stages read disjoint values and every forest of noise covers values of its own: parallel composition, ε in all.",
  following:
    "Release and following read the same values and share ε; all other stages read values of their own, and so does every tree of noise: ε in all.",
  refining:
    "Release and following read the same values and share ε. In the first tree the second choice of θ reads them too, and half of ε is its share: sequential composition, ε. All other stages read values of their own, and so does every tree of noise: parallel composition, ε in all.",
} as const;

/** Settings and functions that make a system with a hold-out ToPS. */
class Tops implements SystemParts<BlockPublisher> {
  readonly settings: Settings;
  readonly answer;
  readonly drawing: number;
  readonly #core: Core;
  readonly #key: Uint32Array;

  constructor(settings: Settings, core: Core, key: Uint32Array) {
    this.settings = settings;
    this.answer = settings.privacy.variant === "paper" ? ("published" as const) : ("best" as const);
    this.drawing = drawingValues(settings);
    // Tables of noise that do not depend on θ, before any value comes: they take a part of a millisecond each.
    if (settings.privacy.follow) followRule(settings).scale.words(core.fillDigit);
    if (settings.privacy.refine) choiceTables(refiningChoice(settings), core);
    this.#core = core;
    this.#key = key;
  }

  holdout(): Holdout {
    return makeHoldout(this.#core, this.#key, this.settings);
  }

  publisher({ theta, skipped, mean }: Beginning): BlockPublisher {
    return new BlockPublisher(this.#core, this.#key, withSkipped(this.settings, skipped), theta, mean);
  }

  clipping(
    { release }: SystemProgress<BlockPublisher>,
    from: number,
    to: number,
    confidence: number,
  ): Hidden | undefined {
    const above = release?.publisher.refined?.above ?? release?.beginning.above;
    if (above === undefined || above.values === 0) return undefined;
    const { sum, low, high } = release!.publisher.clipping(from, to, above, confidence);
    const unit = this.settings.grid.resolution;
    return { sum: sum * unit, low: low * unit, high: high * unit };
  }

  /** Reads what `saveProgress` wrote. */
  loadProgress(reader: Decoder): SystemProgress<BlockPublisher> {
    const progress = reader.double() === 0 ? this.#loadHoldout(reader) : this.#loadRelease(reader);
    if (!reader.atEnd)
      throw new Error("snapshot: expected nothing after the state; made by another version?");
    return progress;
  }

  #loadHoldout(reader: Decoder): SystemProgress<BlockPublisher> {
    const holdout = this.holdout();
    holdout.load(reader);
    return { holdout };
  }

  #loadRelease(reader: Decoder): SystemProgress<BlockPublisher> {
    const [theta, skipped, mean] = [reader.double(), reader.double(), reader.double()];
    const above = { count: reader.double(), values: reader.double() };
    const sparse = reader.double() === 1;
    const beginning = { theta, skipped, mean, sparse, ...(above.values === 0 ? {} : { above }) };
    const publisher = this.publisher(beginning);
    publisher.load(reader);
    return { release: { beginning, publisher } };
  }

  statement({ holdout, release }: SystemProgress<BlockPublisher>): Statement {
    const {
      privacy: { epsilon, variant },
      grid: { min, max, resolution },
      output: { smoother },
    } = this.settings;
    const { beginning, publisher } = release ?? {};
    const refined = publisher?.refined;
    const settled = withSkipped(this.settings, beginning?.skipped ?? this.settings.tree.skipped);
    const epochs = publisher?.epochs ?? [];
    const units = epochs.at(-1)?.theta ?? holdout?.theta;
    // Rounding must not put θ above max: a hub gives it to its streams.
    const thetaOf = (theta: number) =>
      min === 0 ? theta * resolution : Math.min(max, min + theta * resolution);
    const share = epochs.at(-1)?.share ?? firstShare(settled.privacy);
    return makeStatement(settled, this.#core.name, publisher?.length ?? 0, {
      system: variant === "paper" ? "ToPS, as in the paper" : "ToPS",
      epsilon,
      delta: 0,
      composition:
        COMPOSITION[settled.privacy.refine ? "refining" : settled.privacy.follow ? "following" : "still"],
      stages: stagesOf(settled),
      threshold: units === undefined ? null : thetaOf(units),
      smoother: smootherName(smoother) + (publisher?.smootherTrouble ?? ""),
      thresholds: epochs.map(({ block, theta }) => ({
        from: block * settled.tree.blockLength,
        threshold: thetaOf(theta),
      })),
      noiseScale:
        units === undefined
          ? null
          : (settled.tree.levels * (units * resolution)) / nodeEpsilon(settled.privacy, share),
      noise: "discrete Laplace, sampled exactly",
      settled: release !== undefined || settled.holdout.probing === 0,
      clampedShare:
        refined === undefined
          ? clampedShare(beginning?.above, epsilon)
          : clampedShare(refined.above, refiningEpsilon(settled.privacy)),
      warnings: warningsOf(settled, units, (refined ?? beginning)?.sparse ?? false, refined !== undefined),
    });
  }
}

function saveProgress(writer: Encoder, { holdout, release }: SystemProgress<BlockPublisher>): void {
  writer.double(Number(release !== undefined));
  if (release === undefined) return holdout!.save(writer);
  const { theta, skipped, mean, above, sparse } = release.beginning;
  for (const x of [theta, skipped, mean, above?.count ?? 0, above?.values ?? 0, Number(sparse ?? false)])
    writer.double(x);
  release.publisher.save(writer);
}
