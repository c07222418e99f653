/**
 * The attacker can put an older copy of the store's folder back (a restored backup, a cloned machine) and read everything
 * that is published. With the old state, noise that is already public covers other values: the difference of two published
 * numbers is the difference of two true sums. `atLeast` must make this impossible.
 */
import { cpSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openHub, openOdometer, openStream, restore } from "../../src/index.js";
import { rekey } from "../../src/durable/rekey.js";
import { fileStore } from "../../src/node.js";
import { key, options, temporaryFolders } from "../durable/support.js";

const folder = temporaryFolders();
const { unsafeSeed: _, ...secret } = options;
const settings = { ...secret, threshold: 50, holdout: 0, tuning: { fanout: 4, skipLevels: 0 } } as const;

describe("a folder that is rolled back", () => {
  /** A stream with a value behind it, and a copy of its folder from before the secret one. */
  const attack = async () => {
    const [place, copy] = [folder(), folder()];
    const stream = await openStream({ ...settings, name: "s", store: fileStore(place), key });
    await stream.push(10);
    cpSync(place, copy, { recursive: true });
    const published = await stream.push(31); // the secret
    const { sequence } = stream; // kept outside the folder
    await stream.close();
    rmSync(place, { recursive: true });
    cpSync(copy, place, { recursive: true });
    return { place, published, sequence };
  };

  test("without atLeast the attacker reads the secret: this is the harm", async () => {
    const { place, published } = await attack();
    const again = await openStream({ ...settings, name: "s", store: fileStore(place), key });
    const known = await again.push(7); // the attacker's own value, under the same noise
    expect(published! - known! + 7).toBeCloseTo(31, 9);
  });

  test("with atLeast the stream does not open", async () => {
    const { place, sequence } = await attack();
    const open = () =>
      openStream({ ...settings, name: "s", store: fileStore(place), key, atLeast: sequence });
    await expect(open()).rejects.toMatchObject({
      ...{ code: "rolled-back", retryable: false },
      message: expect.stringContaining("expected snapshot 2 or a later one of stream") as string,
    });
    rmSync(place, { recursive: true }); // removed altogether: the stream would begin anew
    await expect(open()).rejects.toThrow("got none");
  });

  test("with atLeast a hub does not open the stream either", async () => {
    const { place, sequence } = await attack();
    const hub = openHub({ ...settings, store: fileStore(place), key, atLeast: () => sequence });
    await expect(hub.push("s", 7)).rejects.toMatchObject({ code: "rolled-back" });
  });

  test("the number that was stored last is enough, and a wrong kind of number is refused", async () => {
    const store = fileStore(folder());
    const stream = await openStream({ ...settings, name: "s", store, key });
    expect(stream.sequence).toBe(0);
    await stream.push(1);
    expect(stream.sequence).toBe(1);
    await openStream({ ...settings, name: "s", store, key, atLeast: 1 });
    for (const atLeast of [-1, 0.5, NaN, "1" as unknown as number])
      await expect(openStream({ ...settings, name: "s", store, key, atLeast })).rejects.toThrow(
        /^atLeast: expected/,
      );
  });

  test("an odometer that is rolled back forgets nothing, because it does not open", async () => {
    const [place, copy] = [folder(), folder()];
    const open = (atLeast: number) =>
      openOdometer({ name: "budget", store: fileStore(place), key, limit: 1, atLeast });
    const odometer = await open(0);
    await odometer.register("a", { epsilon: 0.5, unit: "one value" });
    cpSync(place, copy, { recursive: true });
    await odometer.register("b", { epsilon: 0.5, unit: "one value" });
    rmSync(place, { recursive: true });
    cpSync(copy, place, { recursive: true });
    await expect(open(odometer.sequence)).rejects.toMatchObject({ code: "rolled-back" });
  });
});

describe("rekey", () => {
  const fresh = new Uint8Array(32).fill(4);

  test("the old key opens nothing any more, and a process that has it publishes nothing more", async () => {
    const store = fileStore(folder());
    const before = await openStream({ ...options, name: "s", store, key });
    await before.pushMany([1, 2, 3]);
    expect(await rekey({ store, from: key, to: fresh, names: ["s", "not there"] })).toBe(1);
    await expect(before.push(4)).rejects.toMatchObject({ code: "conflict" });
    await expect(openStream({ ...options, name: "s", store, key })).rejects.toThrow(/cannot decrypt/);
    const after = await openStream({ ...options, name: "s", store, key: fresh });
    expect([after.received, after.sequence]).toEqual([3, 2]);
    await expect(restore((await store.get("s"))!.bytes, key, { ...options, name: "s" })).rejects.toThrow();
  });

  test("an older snapshot under a newer number does not become the newest by a change of key", async () => {
    const inner = fileStore(folder());
    const stream = await openStream({ ...options, name: "s", store: inner, key });
    await stream.push(1);
    const { bytes } = (await inner.get("s"))!;
    await stream.push(2);
    const store = { ...inner, get: () => Promise.resolve({ sequence: 2, bytes }) };
    await expect(rekey({ store, from: key, to: fresh, names: ["s"] })).rejects.toMatchObject({
      code: "rolled-back",
    });
  });

  test("without names it finds all streams, also the one that chooses a shared θ; planted options are none", async () => {
    const store = fileStore(folder());
    const hub = openHub({ ...options, store, key, threshold: "shared" });
    for (let i = 0; i < 6; i++) await hub.pushMany(`key ${i % 2}`, new Float64Array(40).fill(i));
    await hub.close();
    const stored = await store.names!();
    expect(stored).toContain("");
    Object.assign(Object.prototype, { names: [] });
    try {
      expect(await rekey({ store, from: key, to: fresh })).toBe(stored.length);
    } finally {
      delete (Object.prototype as { names?: unknown }).names;
    }
    const again = openHub({ ...options, store, key: fresh, threshold: "shared" });
    expect((await again.progress("key 1")).received).toBeGreaterThan(0);
  });

  test("interrupted at any stream, it is finished by a second run", async () => {
    const names = ["a", "b", "c"];
    for (let broken = 0; broken < names.length; broken++) {
      const inner = fileStore(folder());
      for (const name of names) await (await openStream({ ...options, name, store: inner, key })).push(1);
      const put: typeof inner.put = (name, ...rest) =>
        name === names[broken] ? Promise.reject(new Error("disk full")) : inner.put(name, ...rest);
      await expect(rekey({ store: { ...inner, put }, from: key, to: fresh, names })).rejects.toThrow();
      expect(await rekey({ store: inner, from: key, to: fresh, names })).toBe(names.length - broken);
      for (const name of names)
        expect((await openStream({ ...options, name, store: inner, key: fresh })).received).toBe(1);
    }
  });
});
