/** Keys for the noise of every stream of a hub, from one secret: HMAC-SHA-256 of the purpose and the name. */
import { SmallArrays } from "../../core/smallArrays.js";
import { unsafeKey } from "../../core/unsafeKey.js";

/** Keys stay as long as their hub. */
const kept = new SmallArrays();

export class NoiseKeys {
  // Parameters
  /** 8 words. They can remove all noise. */
  readonly root: Uint32Array;
  readonly #key: Promise<CryptoKey>;
  // State
  /** Keys for the noise of releases, by metric and key. */
  readonly #releases = new Map<string, Uint32Array>();

  constructor(root: Uint32Array) {
    this.root = root;
    const bytes = new Uint8Array(32);
    root.forEach((word, i) => new DataView(bytes.buffer).setUint32(4 * i, word, true));
    this.#key = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  }

  /** 8 words. */
  async of(purpose: "stream" | "people" | "threshold" | "requests", name: string): Promise<Uint32Array> {
    const text = new TextEncoder().encode(`${purpose}/${name}`);
    const bytes = new DataView(await crypto.subtle.sign("HMAC", await this.#key, text));
    const words = kept.zeros(Uint32Array, 8);
    for (let i = 0; i < words.length; i++) words[i] = bytes.getUint32(4 * i, true);
    return words;
  }

  /** Derives the key for the noise of a metric's key. @param seed makes it predictable, for tests */
  async ready(metric: string, key: string, seed: string | undefined): Promise<void> {
    const name = `${metric}/${key}`;
    if (this.#releases.has(name)) return;
    this.#releases.set(
      name,
      seed === undefined ? await this.of("stream", name) : unsafeKey(`${seed}/${name}`),
    );
  }

  /** The key for the noise of a metric's key, which is ready. */
  release(metric: string, key: string): Uint32Array {
    return this.#releases.get(`${metric}/${key}`)!;
  }
}
