/** Stores and streams that the tests of this folder share. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Store, StoredSnapshot } from "../../src/index.js";
import { longTailedStream } from "../support/streams.js";

export const key = new Uint8Array(32).fill(3);

export const options = {
  ...{ epsilon: 1, max: 100, maxRange: 64, holdout: 16, unsafeSeed: "hub", tuning: { fanout: 4 } },
} as const;

export const values = longTailedStream(400, 120, "hub");

/** Gives folders that are removed when the tests of the file are done. */
export function temporaryFolders(): () => string {
  const root = mkdtempSync(join(tmpdir(), "brume-durable-"));
  afterAll(() => rmSync(root, { recursive: true }));
  let count = 0;
  return () => join(root, String(count++));
}

/** A durable store in memory, so that every call can be watched and repeated. */
export function plainStore(): Store & { readonly snapshots: Map<string, StoredSnapshot> } {
  const snapshots = new Map<string, StoredSnapshot>();
  return {
    snapshots,
    durable: true,
    get: (name) => Promise.resolve(snapshots.get(name)),
    put: (name, sequence, bytes) => {
      if (sequence !== (snapshots.get(name)?.sequence ?? 0) + 1)
        return Promise.reject(Object.assign(new Error("taken"), { code: "conflict" }));
      snapshots.set(name, { sequence, bytes });
      return Promise.resolve();
    },
  };
}

/** Faults of a store, by the number of the call, from 1 on. */
export interface Faults {
  /** Whether this call fails. */
  readonly fails: (call: number) => boolean;
  /** Whether it does its work before it fails: a caller cannot tell. */
  readonly after: boolean;
}

/** A store that fails at chosen calls. */
export function failing(store: Store, { fails, after }: Faults): Store & { readonly calls: number } {
  let calls = 0;
  const wrap =
    <A extends unknown[], T>(act: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const broken = fails(++calls);
      if (broken && !after) throw new Error("disk full");
      const answer = await act(...args);
      if (broken) throw new Error("disk full");
      return answer;
    };
  return {
    durable: store.durable,
    get: wrap((name) => store.get(name)),
    put: wrap((...args) => store.put(...args)),
    ...(store.giveBack && { giveBack: wrap((name: string) => store.giveBack!(name)) }),
    get calls() {
      return calls;
    },
  };
}

/** A store that writes down the name, the number and the length of all that is put, in order. */
export function watchedStore(): { readonly store: Store; readonly lines: string[] } {
  const store = plainStore();
  const lines: string[] = [];
  return {
    lines,
    store: {
      ...store,
      put(name, sequence, bytes) {
        lines.push(`${name} ${sequence} ${bytes.length}`);
        return store.put(name, sequence, bytes);
      },
    },
  };
}
