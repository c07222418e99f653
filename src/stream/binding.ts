/**
 * What the snapshots of a stream are bound to: its name and every setting that published numbers depend on. They stand in each
 * snapshot as JSON, the name first: what follows it is encoded once for all streams that share settings.
 */
import { joinBytes } from "../core/bytes.js";
import type { Encoder } from "./codec.js";
import type { Settings } from "./options.js";
import { checkParameters, type Parameters, parametersOf } from "./snapshot.js";

const encoder = new TextEncoder();
const common = new WeakMap<Settings, Uint8Array>();

/** All but the name, up to the end of the text. */
function commonPart(settings: Settings): Uint8Array {
  let bytes = common.get(settings);
  if (bytes === undefined) {
    const { name: _, ...others } = parametersOf(settings);
    common.set(settings, (bytes = encoder.encode(`,${JSON.stringify(others).slice(1)}`)));
  }
  return bytes;
}

export class Binding {
  readonly #settings: Settings;
  readonly #name: string;
  /** The beginning of the text, up to the name. */
  readonly #head: Uint8Array;
  readonly #rest: Uint8Array;

  constructor(settings: Settings, name: string) {
    this.#settings = settings;
    this.#name = name;
    this.#head = encoder.encode(`{"name":${JSON.stringify(name)}`);
    this.#rest = commonPart(settings);
  }

  write(writer: Encoder): void {
    writer.blob(this.#head, this.#rest);
  }

  /** Refuses a snapshot that is bound to something else. @param sealed what `write` wrote, or an older version */
  check(sealed: Uint8Array): void {
    const own = joinBytes([this.#head, this.#rest]);
    if (own.length === sealed.length && own.every((byte, i) => byte === sealed[i])) return;
    checkParameters(JSON.parse(new TextDecoder().decode(sealed)) as Parameters, {
      ...parametersOf(this.#settings),
      name: this.#name,
    });
  }
}
