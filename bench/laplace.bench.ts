/**
 * What does exactness cost, and what do the tables of a new θ? Opponents: the same tables in JavaScript; the usual float formula with Math.random, which is
 * neither exact nor cryptographic; and an exact rejection sampler in JavaScript.
 */
import { jsCore } from "../src/core/js/index.js";
import { Purpose, subStream } from "../src/core/random.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeScale } from "../src/core/tables/scale.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { measureTogether, type Row } from "./harness.js";

const SAMPLES = 1 << 14;

/** Inverse transform in doubles: what one writes first. */
function floatLaplace(t: number, out: Float64Array): void {
  for (let i = 0; i < out.length; i++) {
    // eslint-disable-next-line no-restricted-properties -- the opponent may use the fastest generator there is
    const u = Math.random() - 0.5;
    out[i] = t * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
  }
}

/** Canonne, Kamath and Steinke (2020), Algorithm 2, for an integer scale; plain numbers, words from the platform. */
class RejectionSampler {
  readonly #pool = new Uint32Array(16384);
  #next = this.#pool.length;

  fill(t: number, out: Float64Array): void {
    for (let i = 0; i < out.length; i++) out[i] = this.#laplace(t);
  }

  #laplace(t: number): number {
    for (;;) {
      const u = this.#below(t);
      if (!this.#expCoin(u, t)) continue;
      let v = 0;
      while (this.#expCoin(1, 1)) v++;
      const negative = this.#below(2) === 1;
      const magnitude = u + t * v;
      if (magnitude > 0) return negative ? -magnitude : magnitude;
      if (!negative) return 0;
    }
  }

  /** True with probability exp(−a/b), a ≤ b: how often does a/(b·k) come true in a row? */
  #expCoin(a: number, b: number): boolean {
    let k = 1;
    while (this.#below(b * k) < a) k++;
    return k % 2 === 1;
  }

  #below(n: number): number {
    const unused = Math.clz32(n - 1);
    for (;;) {
      if (this.#next === this.#pool.length) {
        crypto.getRandomValues(this.#pool);
        this.#next = 0;
      }
      const x = n === 1 ? 0 : this.#pool[this.#next++]! >>> unused;
      if (x < n) return x;
    }
  }
}

/** A scale that nobody has asked for: t, and a little more each time. */
let asked = 0n;
const nextScale = (t: bigint) => makeScale((t << 40n) + ++asked, 1n << 40n);

export async function* rows(): AsyncGenerator<Row> {
  const wasmCore = makeWasmCore();
  const key = unsafeKey("bench");
  const out = new Float64Array(SAMPLES);
  const rejection = new RejectionSampler();
  for (const t of [1, 40, 4096, 40_000]) {
    const scale = makeScale(BigInt(t), 1n);
    const common = {
      path: "laplace",
      wasm: () => wasmCore.laplace(subStream(key, Purpose.forest, 0, 0), scale, out),
      js: () => jsCore.laplace(subStream(key, Purpose.forest, 0, 0), scale, out),
    };
    const what = `${SAMPLES} samples, scale ${t}, naive:`;
    yield* await measureTogether([
      { ...common, case: `${what} float formula`, naive: () => floatLaplace(t, out) },
      { ...common, case: `${what} exact rejection`, naive: () => rejection.fill(t, out) },
      {
        path: "laplace",
        case: `tables of a new scale, ${t}`,
        wasm: () => nextScale(BigInt(t)).words(wasmCore.fillDigit),
        js: () => nextScale(BigInt(t)).words(jsCore.fillDigit),
      },
    ]);
  }
}
