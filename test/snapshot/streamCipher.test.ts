/** Two ciphers, one format: Node's own, and WebCrypto's where there is no Node. */
import { afterEach, expect, test, vi } from "vitest";

const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const salt = new Uint8Array(16).fill(5);
const header = Uint8Array.from({ length: 42 }, (_, i) => 3 * i);
const plain = new TextEncoder().encode("a state of some length");

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

async function cipherWith(node: boolean) {
  vi.resetModules();
  if (!node) vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const { StreamCipher } = await import("../../src/snapshot/streamCipher.js");
  return StreamCipher.make(key, salt);
}

test("both give the same bytes and read each other's", async () => {
  const [native, web] = [await cipherWith(true), await cipherWith(false)];
  const encrypted = native.encrypt(header, plain);
  expect(encrypted).toBeInstanceOf(Uint8Array); // at once
  expect(await web.encrypt(header, plain)).toEqual(encrypted);
  for (const cipher of [native, web])
    expect(await cipher.decrypt(header, (await encrypted).slice(42))).toEqual(plain);
});

test("the key of a stream is HKDF-SHA-256 of the key and the stream's salt", async () => {
  const { hkdfSync, createDecipheriv } = await import("node:crypto");
  const streamKey = new Uint8Array(
    hkdfSync("sha256", key, "", Buffer.concat([Buffer.from("brume snapshot"), salt]), 32),
  );
  const encrypted = await (await cipherWith(true)).encrypt(header, plain);
  const decipher = createDecipheriv("aes-256-gcm", streamKey, header.subarray(30));
  decipher.setAAD(header).setAuthTag(encrypted.subarray(-16));
  expect(Uint8Array.from(decipher.update(encrypted.subarray(42, -16)))).toEqual(plain);
  decipher.final();
});

test.each([true, false])("a changed header, text or tag is refused (Node: %s)", async (node) => {
  const cipher = await cipherWith(node);
  const encrypted = (await cipher.encrypt(header, plain)).slice(42);
  for (let i = 0; i < encrypted.length; i++)
    await expect(cipher.decrypt(header, encrypted.with(i, encrypted[i]! ^ 1))).rejects.toThrow();
  for (let i = 0; i < header.length; i++)
    await expect(cipher.decrypt(header.with(i, header[i]! ^ 1), encrypted)).rejects.toThrow();
});
