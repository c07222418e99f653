/** Is SIMD ChaCha20 worth leaving JavaScript for? Limit: OpenSSL's, the same cipher in native code. */
import { createCipheriv } from "node:crypto";
import { jsCore } from "../src/core/js/index.js";
import { Purpose, subStream } from "../src/core/random.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { measure, type Row } from "./harness.js";

export async function* rows(): AsyncGenerator<Row> {
  const wasmCore = makeWasmCore();
  const key = unsafeKey("bench");
  for (const kib of [4, 1024]) {
    const out = new Uint32Array(kib * 256);
    const zeros = new Uint8Array(kib * 1024);
    yield await measure({
      path: "chacha20",
      case: `${kib} KiB of keystream`,
      wasm: () => wasmCore.keystream(subStream(key, Purpose.forest, 0, 0), out),
      js: () => jsCore.keystream(subStream(key, Purpose.forest, 0, 0), out),
      limit: () => createCipheriv("chacha20", new Uint8Array(32), new Uint8Array(16)).update(zeros),
    });
  }
}
