/** A file store on a folder in memory, with small limits: what it writes, when it empties files, what others may do meanwhile. */
import { describe, expect, test } from "vitest";
import { logStore } from "../../../src/durable/stores/file.js";
import type { LogFiles } from "../../../src/durable/stores/logFolder.js";
import type { Store } from "../../../src/index.js";
import { integers } from "../../support/numbers.js";

class MemoryFolder implements LogFiles {
  readonly files = new Map<number, Buffer>();
  readonly calls: string[] = [];
  /** Runs before a call; may throw, or act as another process. */
  before: (call: string) => void | Promise<void> = () => undefined;

  async #call(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
    await Promise.resolve();
  }

  async numbers() {
    await this.#call("numbers");
    return [...this.files.keys()].sort((a, b) => a - b);
  }

  async newest() {
    await this.#call("newest");
    return Math.max(0, ...this.files.keys());
  }

  async create(number: number) {
    await this.#call(`create ${number}`);
    if (this.files.has(number)) return false;
    this.files.set(number, Buffer.alloc(0));
    return true;
  }

  async append(number: number, bytes: Uint8Array, end: number) {
    await this.#call(`append ${number} at ${end}`);
    const file = this.files.get(number);
    if (file === undefined) return false;
    if (file.length !== end) throw new Error("fileStore: another program changed the folder of this store");
    this.files.set(number, Buffer.concat([file, bytes]));
    return true;
  }

  async read(number: number, start: number, end = Infinity) {
    await this.#call(`read ${number} ${start}`);
    return this.files.get(number)?.subarray(start, end);
  }

  async flush(number: number) {
    await this.#call(`flush ${number}`);
  }

  async flushNames() {
    await this.#call("flushNames");
  }

  async remove(number: number) {
    await this.#call(`remove ${number}`);
    this.files.delete(number);
  }

  get sizes(): Record<number, number> {
    return Object.fromEntries([...this.files].map(([number, { length }]) => [number, length]));
  }
}

const limits = { full: 400, copied: 150, files: 4, patience: 20 };
/** A snapshot of a name of one letter takes 40 + 16 + 1 bytes and its own. */
const bytes = (size: number, mark = 0) => Buffer.alloc(size, mark);
const found = async (store: Store, name: string) => {
  const got = await store.get(name);
  return got && [got.sequence, got.bytes.length, got.bytes[0]];
};

describe("what is written", () => {
  test("a first batch that says how far older files count, then one batch a call", async () => {
    const folder = new MemoryFolder();
    const store = logStore(folder, limits);
    expect([await store.get("a"), await store.names!(), folder.sizes]).toEqual([undefined, [], {}]);
    await store.put("a", 1, bytes(10, 1));
    expect(folder.sizes).toEqual({ 1: 40 + 67 });
    await store.put("a", 2, bytes(20, 2));
    expect(folder.sizes).toEqual({ 1: 107 + 77 });
    folder.calls.length = 0;
    expect(await found(store, "a")).toEqual([2, 20, 2]);
    expect(folder.calls).toEqual(["newest", "read 1 164"]); // its own file: the index is complete
    expect(await store.putMany!([{ name: "b", sequence: 1, bytes: bytes(1) }])).toEqual([true]);
    folder.calls.length = 0;
    await expect(store.put("a", 4, bytes(1))).rejects.toMatchObject({ code: "conflict" });
    expect(await store.putMany!([{ name: "a", sequence: 2, bytes: bytes(1) }])).toEqual([false]);
    expect(folder.calls.filter((call) => call.startsWith("append"))).toEqual([]); // nothing to write
    await store.remove!("b", 1);
    expect(await store.names!()).toEqual(["a"]);
    await expect(store.remove!("a", 1)).rejects.toMatchObject({ code: "conflict" });
    expect(await found(logStore(folder, limits), "a")).toEqual([2, 20, 2]);
  });

  test("another process begins the next file; readers write nothing, and flush what they read", async () => {
    const folder = new MemoryFolder();
    const [one, two, reader] = [logStore(folder, limits), logStore(folder, limits), logStore(folder, limits)];
    await one.put("a", 1, bytes(10, 1));
    folder.calls.length = 0;
    expect(await found(reader, "a")).toEqual([1, 10, 1]);
    expect(folder.calls).toEqual([
      ...["newest", "numbers", "read 1 0", "flush 1", "read 1 40", "flush 1", "newest", "read 1 97"],
    ]);
    await two.put("a", 2, bytes(10, 2));
    expect(folder.sizes).toEqual({ 1: 107, 2: 40 + 17 + 67 }); // "1" counts up to byte 107
    expect([await found(reader, "a"), await found(one, "a")]).toEqual([
      [2, 10, 2],
      [2, 10, 2],
    ]);
    await one.put("a", 3, bytes(10, 3)); // it takes over again
    expect(Object.keys(folder.sizes)).toEqual(["1", "2", "3"]);
    expect(await found(two, "a")).toEqual([3, 10, 3]);
  });

  test("a full file is followed by the next; an old one is emptied and removed when most of it is replaced", async () => {
    const folder = new MemoryFolder();
    const store = logStore(folder, limits);
    await store.put("k", 1, bytes(30, 7)); // kept for ever
    const seen: string[] = [];
    for (let i = 1; i <= 14; i++) {
      await store.put("a", i, bytes(100, i));
      seen.push(JSON.stringify(folder.sizes));
    }
    // A put takes 157 bytes, and a file is followed when it is longer than 400. The oldest one is emptied when all of them have
    // 2·130 + 800 bytes or more, of which 130 are the newest snapshots: then "k" is copied, 87 bytes.
    expect(seen).toEqual([
      ...['{"1":284}', '{"1":441,"2":57}', '{"1":441,"2":214}', '{"1":441,"2":371}'],
      ...['{"1":441,"2":528,"3":74}', '{"2":528,"3":318}', '{"3":475,"4":74}', '{"3":475,"4":231}'],
      ...['{"3":475,"4":388}', '{"4":545,"5":161}', '{"4":545,"5":318}', '{"5":475,"6":74}'],
      ...['{"5":475,"6":231}', '{"5":475,"6":388}'],
    ]);
    expect([await found(store, "k"), await found(store, "a")]).toEqual([
      [1, 30, 7],
      [14, 100, 14],
    ]);
    const fresh = logStore(folder, limits);
    expect([await found(fresh, "k"), await found(fresh, "a"), await fresh.names!()]).toEqual([
      ...[
        [1, 30, 7],
        [14, 100, 14],
      ],
      ["k", "a"].sort().reverse(),
    ]);
  });

  test("more files than allowed are emptied too, however small; at most so many bytes a call are copied", async () => {
    const folder = new MemoryFolder();
    const first = logStore(folder, limits);
    for (const name of ["p", "q", "r", "s"]) await first.put(name, 1, bytes(70, 1)); // 4·127 + 40: two files
    const counts: number[] = [];
    for (let i = 1; i <= 8; i++) {
      await logStore(folder, limits).put("z", i, bytes(1, i)); // each process begins a file
      counts.push(folder.files.size);
    }
    expect(counts).toEqual([3, 4, 5, 5, 5, 5, 5, 6]);
    const fresh = logStore(folder, limits);
    for (const name of ["p", "q", "r", "s"]) expect(await found(fresh, name)).toEqual([1, 70, 1]);
  });
});

describe("others at the same time", () => {
  test("a batch that another process did not see is written again, or refused", async () => {
    const folder = new MemoryFolder();
    const [one, two] = [logStore(folder, limits), logStore(folder, limits)];
    await one.put("a", 1, bytes(5, 1));
    // Between the write of one and its look for newer files, two takes over: it has read the write, so it counts.
    let other: Promise<unknown> | undefined;
    let appended = false;
    folder.before = async (call) => {
      if (call.startsWith("append 1")) appended = true;
      else if (appended && other === undefined) await (other = two.put("b", 1, bytes(5, 2)));
    };
    await one.put("a", 2, bytes(5, 2));
    await other;
    folder.before = () => undefined;
    const fresh = logStore(folder, limits);
    expect([await found(fresh, "a"), await found(fresh, "b")]).toEqual([
      [2, 5, 2],
      [1, 5, 2],
    ]);
    // Now two takes over before the write of one: it does not count, and is made again.
    other = undefined;
    folder.before = async (call) => {
      if (!call.startsWith("append") || other !== undefined) return;
      await (other = two.put("b", 2, bytes(5, 3)));
    };
    await one.put("a", 3, bytes(5, 3));
    folder.before = () => undefined;
    const last = logStore(folder, limits);
    expect([await found(last, "a"), await found(last, "b")]).toEqual([
      [3, 5, 3],
      [2, 5, 3],
    ]);
  });

  test("any mix of processes, each put accepted once and in order", async () => {
    for (let seed = 0; seed < 12; seed++) {
      const folder = new MemoryFolder();
      const dice = [...integers(seed, 400, 1000)].map(Math.abs);
      let stores = Array.from({ length: 3 }, () => logStore(folder, limits));
      const model = new Map<string, [number, number]>();
      for (let step = 0; step < 60; step++) {
        const [who, what, size] = [dice[3 * step]!, dice[3 * step + 1]!, dice[3 * step + 2]!];
        const store = stores[who % 3]!;
        const name = "abcde"[what % 5]!;
        const [sequence] = model.get(name) ?? [0];
        if (what % 11 === 0 && sequence > 0) {
          await store.remove!(name, sequence);
          model.delete(name);
        } else if (what % 7 === 0)
          await expect(store.put(name, sequence + 2, bytes(1))).rejects.toMatchObject({ code: "conflict" });
        else {
          await store.put(name, sequence + 1, bytes(1 + (size % 120), step));
          model.set(name, [sequence + 1, step]);
        }
        if (who % 13 === 0) stores = stores.map((old, i) => (i === who % 3 ? logStore(folder, limits) : old));
        for (const asked of [stores[size % 3]!, store])
          expect([...(await asked.names!())].sort()).toEqual([...model.keys()].sort());
        for (const [known, [number, mark]] of model) {
          const got = (await stores[step % 3]!.get(known))!;
          expect([got.sequence, got.bytes[0]]).toEqual([number, mark]);
        }
        expect(folder.files.size).toBeLessThanOrEqual(3 * limits.files);
      }
    }
  });

  test("a file without a first batch: a reader waits, then takes over and removes it", async () => {
    const folder = new MemoryFolder();
    await logStore(folder, limits).put("a", 1, bytes(5, 1));
    folder.files.set(2, Buffer.alloc(0));
    const start = performance.now();
    expect(await found(logStore(folder, limits), "a")).toEqual([1, 5, 1]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(limits.patience);
    expect(Object.keys(folder.sizes)).toEqual(["1", "3"]);
  });

  test("a write that failed is read again before the next one; a folder that was replaced begins anew", async () => {
    const folder = new MemoryFolder();
    const store = logStore(folder, limits);
    await store.put("a", 1, bytes(5, 1));
    let left = 1;
    folder.before = (call) => {
      if (call.startsWith("append") && left-- > 0) throw new Error("disk full");
    };
    await expect(store.put("a", 2, bytes(5, 2))).rejects.toThrow("disk full");
    expect(await found(store, "a")).toEqual([1, 5, 1]);
    left = 1;
    await expect(store.put("a", 2, bytes(5, 2))).rejects.toThrow("disk full"); // the first batch of a new file
    await store.put("a", 2, bytes(5, 3));
    expect(await found(logStore(folder, limits), "a")).toEqual([2, 5, 3]);
    folder.files.clear();
    expect([await store.get("a"), await store.names!()]).toEqual([undefined, []]);
    await store.put("a", 1, bytes(5, 9));
    expect([await found(store, "a"), Object.keys(folder.sizes)]).toEqual([[1, 5, 9], ["1"]]);
  });
});

describe("a log that was damaged", () => {
  /** Three snapshots: two in the newest file, one in an older file that counts up to its end. */
  async function written(): Promise<MemoryFolder> {
    const folder = new MemoryFolder();
    await logStore(folder, limits).put("a", 1, bytes(30, 1));
    const second = logStore(folder, limits);
    await second.put("b", 1, bytes(30, 2));
    await second.put("a", 2, bytes(30, 3));
    return folder;
  }

  /** Snapshots that a new process finds after a change of a file, or the code of its error. */
  async function after(folder: MemoryFolder, number: number, change: (file: Buffer) => Buffer) {
    const files = new Map(folder.files);
    folder.files.set(number, change(Buffer.from(folder.files.get(number)!)));
    const before = JSON.stringify([...folder.files]);
    const store = logStore(folder, limits);
    try {
      const names = await store.names!();
      const sequences = await Promise.all(names.map(async (name) => (await store.get(name))!.sequence));
      return names.map((name, i) => `${name} ${sequences[i]}`).sort();
    } catch (error) {
      expect(JSON.stringify([...folder.files])).toBe(before); // nothing is removed or made
      return (error as { code: string }).code;
    } finally {
      for (const number of folder.files.keys()) folder.files.delete(number);
      for (const [number, file] of files) folder.files.set(number, file);
    }
  }

  test("is refused wherever a bit is turned, but in the last write: a crash could have cut that short", async () => {
    const folder = await written();
    const [older, newest] = [folder.files.get(1)!.length, folder.files.get(2)!.length];
    const last = newest - (40 + 17 + 30);
    const turned = (at: number) => (file: Buffer) => {
      file[at]! ^= 1;
      return file;
    };
    for (let at = 0; at < older; at++)
      expect([at, await after(folder, 1, turned(at))]).toEqual([at, "invalid"]);
    for (let at = 0; at < last; at++)
      expect([at, await after(folder, 2, turned(at))]).toEqual([at, "invalid"]);
    for (let at = last; at < newest; at++)
      expect([at, await after(folder, 2, turned(at))]).toEqual([at, ["a 1", "b 1"]]);
  });

  test("is refused if what counts of it is shorter, and read if its last write was cut short", async () => {
    const folder = await written();
    const cut = (by: number) => (file: Buffer) => file.subarray(0, -by);
    expect(await after(folder, 2, (file) => file)).toEqual(["a 2", "b 1"]);
    expect(await after(folder, 1, cut(1))).toBe("invalid");
    expect(await after(folder, 2, cut(1))).toEqual(["a 1", "b 1"]);
  });
});

/** A folder whose bytes are in memory until they are flushed. */
class UnflushedFolder extends MemoryFolder {
  /** The file whose next append is not flushed: its process is killed, or the disk fails. */
  unflushed = 0;
  readonly #disk = new Map<number, Buffer>();

  override async append(number: number, bytes: Uint8Array, end: number) {
    const appended = await super.append(number, bytes, end);
    if (number === this.unflushed) {
      this.unflushed = 0;
      throw new Error("killed");
    }
    await this.flush(number);
    return appended;
  }

  override flush(number: number) {
    const file = this.files.get(number);
    if (file !== undefined) this.#disk.set(number, file);
    return Promise.resolve();
  }

  override flushNames() {
    for (const number of this.files.keys()) this.#disk.set(number, this.#disk.get(number) ?? Buffer.alloc(0));
    return Promise.resolve();
  }

  override async remove(number: number) {
    await super.remove(number);
    this.#disk.delete(number);
  }

  cutPower(): void {
    this.files.clear();
    for (const [number, file] of this.#disk) this.files.set(number, file);
  }
}

describe("a first batch that its writer did not flush", () => {
  test("is flushed by the process that counts it: a power cut does not make the folder look damaged", async () => {
    for (const goesOn of ["another process", "the same process"]) {
      const folder = new UnflushedFolder();
      await logStore(folder, limits).put("a", 1, bytes(10, 1));
      const store = logStore(folder, limits);
      folder.unflushed = 2;
      await expect(store.put("a", 2, bytes(10, 2))).rejects.toThrow("killed");
      await (goesOn === "the same process" ? store : logStore(folder, limits)).put("a", 2, bytes(10, 3));
      folder.cutPower();
      expect(await found(logStore(folder, limits), "a")).toEqual([2, 10, 3]);
    }
  });
});
