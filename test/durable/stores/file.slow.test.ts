/** The log files of a file store: torn ends, killed writers, full disks, old files that are emptied. */
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileStore } from "../../../src/node.js";
import { temporaryFolders } from "../support.js";

const folder = temporaryFolders();
const text = async (store: ReturnType<typeof fileStore>, name: string) => {
  const found = await store.get(name);
  return found && `${found.sequence} ${Buffer.from(found.bytes).toString()}`;
};

test("a write that was cut off anywhere does not count, and the next one follows what is left", async () => {
  const place = folder();
  const store = fileStore(place);
  await store.put("a", 1, Buffer.from("one"));
  const before = statSync(join(place, "1.log")).size;
  await store.putMany!([
    { name: "a", sequence: 2, bytes: Buffer.from("two") },
    { name: "b", sequence: 1, bytes: Buffer.from("first") },
  ]);
  const whole = readFileSync(join(place, "1.log"));
  for (let length = before; length <= whole.length; length++) {
    const cut = folder();
    cpSync(place, cut, { recursive: true });
    truncateSync(join(cut, "1.log"), length);
    const complete = length === whole.length;
    expect(await text(fileStore(cut), "a")).toBe(complete ? "2 two" : "1 one");
    expect(await text(fileStore(cut), "b")).toBe(complete ? "1 first" : undefined);
    await fileStore(cut).put("a", complete ? 3 : 2, Buffer.from("other"));
    expect(await text(fileStore(cut), "a")).toBe(complete ? "3 other" : "2 other");
  }
});

test("a changed byte in the last batch makes it not count", async () => {
  const place = folder();
  const store = fileStore(place);
  await store.put("a", 1, Buffer.from("one"));
  const before = statSync(join(place, "1.log")).size;
  await store.put("a", 2, Buffer.from("two"));
  const whole = readFileSync(join(place, "1.log"));
  for (let at = before; at < whole.length; at++) {
    writeFileSync(join(place, "1.log"), whole.with(at, whole[at]! ^ 1));
    expect(await text(fileStore(place), "a")).toBe("1 one");
  }
});

test("a writer that was killed before its first batch locks nobody out", async () => {
  const place = folder();
  const store = fileStore(place);
  await store.put("a", 1, Buffer.from("one"));
  writeFileSync(join(place, "2.log"), "");
  expect(await text(fileStore(place), "a")).toBe("1 one"); // waits a second for the first batch
  await store.put("a", 2, Buffer.from("two"));
  expect(await text(fileStore(place), "a")).toBe("2 two");
  expect(readdirSync(place)).not.toContain("2.log");
});

test("what a writer appends after another one took over does not count, and it is told", async () => {
  const place = folder();
  const [one, two] = [fileStore(place), fileStore(place)];
  await one.put("a", 1, Buffer.from("one"));
  await two.put("a", 2, Buffer.from("two"));
  await expect(one.put("a", 2, Buffer.from("late"))).rejects.toMatchObject({ code: "conflict" });
  await one.put("b", 1, Buffer.from("other stream"));
  await two.put("a", 3, Buffer.from("three"));
  expect([await text(one, "a"), await text(two, "b")]).toEqual(["3 three", "1 other stream"]);
});

test("a folder that is replaced under a running writer is noticed before the writer reports success", async () => {
  const [place, copy] = [folder(), folder()];
  const store = fileStore(place);
  await store.put("a", 1, Buffer.from("one"));
  cpSync(place, copy, { recursive: true });
  await store.put("a", 2, Buffer.from("two"));
  cpSync(copy, place, { recursive: true, force: true });
  await expect(store.put("a", 3, Buffer.from("three"))).rejects.toThrow(/another program changed the folder/);
});

describe("replaced snapshots do not fill the disk", () => {
  test("files are begun, emptied and removed, and every newest snapshot stays", async () => {
    const place = folder();
    let store = fileStore(place);
    const big = new Uint8Array(5 * 2 ** 20);
    await store.put("rare", 1, Buffer.from("kept"));
    await store.put("gone", 1, Buffer.from("removed"));
    await store.remove!("gone", 1);
    for (let i = 1; i <= 50; i++) {
      big[0] = i;
      await store.put("big", i, big);
      if (i % 20 === 0) store = fileStore(place); // another process
    }
    const size = readdirSync(place).reduce((sum, name) => sum + statSync(join(place, name)).size, 0);
    expect(size).toBeLessThan(220 * 2 ** 20); // 262 MB were written
    expect(readdirSync(place)).not.toContain("1.log");
    const fresh = fileStore(place);
    expect([await text(fresh, "rare"), await text(fresh, "gone")]).toEqual(["1 kept", undefined]);
    expect((await fresh.get("big"))!.bytes[0]).toBe(50);
  });

  test("a process that restarts often leaves few files", async () => {
    const place = folder();
    for (let i = 1; i <= 60; i++) await fileStore(place).put(`s${i % 7}`, Math.ceil(i / 7), Uint8Array.of(i));
    expect(readdirSync(place).length).toBeLessThanOrEqual(18);
    expect((await fileStore(place).names!()).length).toBe(7);
    for (let i = 54; i <= 60; i++) expect([...(await fileStore(place).get(`s${i % 7}`))!.bytes]).toEqual([i]);
  });
});
