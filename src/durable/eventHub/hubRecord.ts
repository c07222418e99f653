/** What a hub stores about itself: its secret, its metrics, and up to which record of the log all states are stored. */
import { secretKey } from "../../core/random.js";
import { timeText } from "../../events/duration.js";
import type { Decoder, Encoder } from "../../stream/codec.js";
import { StreamCipher } from "../../stream/sealing.js";
import {
  checkParameters,
  encodeState,
  openSnapshot,
  type Parameters,
  sealSnapshot,
} from "../../stream/snapshot.js";
import { type CheckedStore, checkSequence } from "../checkedStore.js";
import type { NamedSnapshot } from "../stores/store.js";
import { type Begun, beginning, templateOf } from "./metricState.js";
import type { MetricSettings } from "./options.js";

/** What never changes about a metric. */
export interface MetricRecord extends Begun {
  /** Its options. */
  readonly parameters: Parameters;
}

export class HubRecord {
  readonly #name: string;
  readonly #cipher: StreamCipher;
  #sequence: number;
  readonly root: Uint32Array;
  /** Every record of the log up to here is covered by stored states, as far as this record says. */
  covered: number;
  readonly #metrics: Map<string, MetricRecord>;

  private constructor(
    name: string,
    cipher: StreamCipher,
    sequence: number,
    root: Uint32Array,
    covered: number,
    metrics: Map<string, MetricRecord>,
  ) {
    this.#name = name;
    this.#cipher = cipher;
    this.#sequence = sequence;
    this.root = root;
    this.covered = covered;
    this.#metrics = metrics;
  }

  /** The record that the store has, or a new one. */
  static async open(store: CheckedStore | undefined, key: CryptoKey, name: string): Promise<HubRecord> {
    const found = await store?.getAgain(name);
    if (found === undefined)
      return new HubRecord(name, await StreamCipher.make(key), 0, secretKey(), 0, new Map());
    const { sequence, salt, state } = await openSnapshot(found.bytes, key, identity(name));
    checkSequence(name, found.sequence, sequence);
    const root = state.words(8);
    const covered = state.double();
    const cipher = await StreamCipher.make(key, salt);
    return new HubRecord(name, cipher, sequence, root, covered, readMetrics(state));
  }

  /** Whether the hub is not in the store yet. */
  get isNew(): boolean {
    return this.#sequence === 0;
  }

  /** What a metric began with, if the hub has it with the same options, or begins with now. */
  metric(name: string, settings: MetricSettings): Begun & { readonly isNew: boolean } {
    const template = templateOf(settings);
    const parameters = { ...template.parameters({ name, origin: 0 }), shared: String(settings.shared) };
    const begun = beginning(settings);
    const { origin } = begun;
    const known = this.#metrics.get(name);
    if (known === undefined) this.#metrics.set(name, { ...begun, parameters });
    else checkParameters(known.parameters, parameters);
    if (known !== undefined && settings.options.origin !== undefined && origin !== known.origin)
      throw new RangeError(
        `metrics.${name}.origin: expected ${timeText(known.origin)}, which the hub began with, got ${timeText(origin)}`,
      );
    return { ...(known ?? begun), isNew: known === undefined };
  }

  /** The next snapshot of it. */
  async seal(covered: number): Promise<NamedSnapshot> {
    const sequence = this.#sequence + 1;
    const plain = encodeState(identity(this.#name), (writer) => {
      writer.words(this.root);
      writer.double(covered);
      writeMetrics(writer, this.#metrics);
    });
    return { name: this.#name, sequence, bytes: await sealSnapshot(this.#cipher, sequence, plain) };
  }

  stored(covered: number): void {
    this.#sequence++;
    this.covered = covered;
  }
}

const identity = (name: string): Parameters => ({ name, kind: "hub of events" });

function writeMetrics(writer: Encoder, metrics: ReadonlyMap<string, MetricRecord>): void {
  writer.count(metrics.size);
  for (const [name, { origin, held, parameters }] of metrics) {
    writer.text(name);
    writer.double(origin);
    writer.double(held.ticks);
    writer.double(held.perTick);
    writer.text(JSON.stringify(parameters));
  }
}

function readMetrics(reader: Decoder): Map<string, MetricRecord> {
  const metrics = new Map<string, MetricRecord>();
  for (let left = reader.count(); left > 0; left--) {
    const name = reader.text();
    const origin = reader.double();
    const held = { ticks: reader.double(), perTick: reader.double() };
    metrics.set(name, { origin, held, parameters: JSON.parse(reader.text()) as Parameters });
  }
  return metrics;
}
