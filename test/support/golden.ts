/**
 * Draws and streams that are pinned: what a key leads to, and what a snapshot means. `npm run golden` writes them to
 * test/vectors/golden.json, `test/golden.test.ts` makes them again on both cores.
 */
import { createHash } from "node:crypto";
import type { Core } from "../../src/core/core.js";
import { makeDayShape } from "../../src/core/dayShape.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import {
  type EventStreamOptions,
  type HistogramOptions,
  privateStream,
  restore,
  type StreamOptions,
} from "../../src/index.js";
import { beginEvents, restoreEvents } from "../../src/events/kinds.js";
import { hybrid, squareWave } from "../../src/local/mechanisms.js";
import { longTailedStream } from "./streams.js";

export const SNAPSHOT_KEY = new Uint8Array(32).fill(0x5a);

/** Sixteen hexadecimal digits that stand for all bits of some arrays. */
export function digestOf(...arrays: readonly ArrayBufferView[]): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of arrays)
    hash.update(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
  return hash.digest("hex").slice(0, 16);
}

/** By name, what every sampler draws from one key. @param start the word of the keystream that it begins with */
export function draws(core: Core, start = 0): Record<string, string> {
  const key = unsafeKey("golden");
  const random = (index: number) => ({ ...subStream(key, Purpose.baseline, 7, index), position: start });
  const found: Record<string, string> = { key: digestOf(key) };
  const words = new Uint32Array(300);
  core.keystream(random(0), words);
  found["keystream"] = digestOf(words);
  for (const [numerator, denominator] of [
    [1n, 3n],
    [1n, 1n],
    [1000n, 7n],
    [1n << 30n, 1n],
  ] as const)
    for (const sampler of ["laplace", "geometric"] as const) {
      const out = new Float64Array(2000);
      core[sampler](random(1), makeScale(numerator, denominator), out);
      found[`${sampler} ${numerator}/${denominator}`] = digestOf(out);
    }
  for (const [fanout, levels] of [
    [16, 3],
    [2, 6],
    [4, 1],
  ] as const) {
    const { noise, corrections } = core.growTree(random(2), makeScale(300n, 1n), fanout, levels);
    found[`tree ${fanout}^${levels - 1}`] = digestOf(noise, corrections);
  }
  const berlin = makeDayShape(50, [new Array<number>(25).fill(2), [25]]);
  const day = core.growDay(random(4 + start), random(5 + start), makeScale(3n, 1n), berlin);
  found["day"] = digestOf(day);
  for (const noise of ["laplace", "exponential"] as const) {
    const [candidates, holdout] = [1000, 400];
    const selection = makeSelection({
      ...{ candidates, step: 0.5, holdout, epsilon: 0.3, releaseEpsilon: 0.3 },
      ...{ maxRange: 2 ** 20, fanout: 16, noise },
    });
    const bins = Uint16Array.from({ length: holdout }, (_, i) => (i * i) % candidates);
    const winners = Float64Array.from({ length: 32 }, (_, i) =>
      core.noisyMax(random(16 + i), bins, selection),
    );
    found[`noisy max, ${noise}`] = digestOf(winners);
  }
  for (const [name, mechanism] of Object.entries({ hybrid: hybrid(1), "square wave": squareWave(1) })) {
    const values = Float64Array.from({ length: 500 }, (_, i) => i / 5);
    const out = new Uint32Array(values.length);
    core.fillReports(random(3), mechanism, { scale: mechanism.top / 100, shift: 0.5 }, values, out);
    found[`reports, ${name}`] = digestOf(out);
  }
  return found;
}

/** A stream that is fed in steps: 0 … `steps` − 1. */
export interface Pinned {
  readonly steps: number;
  /** Steps before which a snapshot is taken. */
  readonly snapshots: readonly number[];
  begin(core: "wasm" | "js"): Fed;
  /** @param step the one before which the snapshot was taken */
  resume(bytes: Uint8Array, core: "wasm" | "js", step: number): Promise<Fed>;
}

export interface Fed {
  /** Feeds one step and gives what it publishes. */
  step(i: number): Float64Array[];
  snapshot(): Promise<Uint8Array>;
}

const values = longTailedStream(4096, 150, "golden");

function positions(options: StreamOptions): Pinned {
  const all = { ...options, unsafeSeed: "golden", name: "golden" };
  const fed = (stream: ReturnType<typeof privateStream>): Fed => ({
    step: (i) => [stream.pushMany(values.subarray(100 * i, 100 * (i + 1)))],
    snapshot: () => stream.snapshot(SNAPSHOT_KEY),
  });
  return {
    steps: 40,
    snapshots: [3, 27],
    begin: (core) => fed(privateStream({ ...all, core })),
    resume: async (bytes, core) => fed(await restore(bytes, SNAPSHOT_KEY, { ...all, core })),
  };
}

/** Berlin's day of 25 hours begins two hours later. */
const START = Date.parse("2026-10-24T20:00Z");
const HOUR = 3_600_000;

function events(options: Partial<EventStreamOptions> | Partial<HistogramOptions>): Pinned {
  const all = {
    ...{ epsilon: 1, every: "30m", levels: ["30m", "1h", "1d"], zone: "Europe/Berlin" },
    ...{ unsafeSeed: "golden", name: "golden", skew: "2h" },
    ...{ perPerson: { events: 3, perHour: 2, people: 16 }, ...options },
  } as EventStreamOptions | HistogramOptions;
  const counts = "of" in all && all.of === "count";
  let now = START;
  const clock = () => now;
  const fed = (stream: ReturnType<typeof beginEvents>): Fed => ({
    step(i) {
      now = START + HOUR * i;
      for (let k = 0; k < 9; k++) {
        const info = { at: now + 450_000 * k, person: `person ${(i * k) % 41}` };
        if (counts) (stream as { add(info: object): void }).add(info);
        else (stream as { add(value: number, info: object): void }).add(values[9 * i + k]!, info);
      }
      return stream
        .advance(START + HOUR * (i + 1))
        .map((answer) =>
          "counts" in answer
            ? Float64Array.from(answer.counts!)
            : Float64Array.of(answer.from, answer.value ?? NaN, answer.low ?? NaN, answer.high ?? NaN),
        );
    },
    snapshot: () => stream.snapshot(SNAPSHOT_KEY),
  });
  return {
    steps: 60,
    snapshots: [3, 40],
    begin(core) {
      now = START;
      return fed(beginEvents({ ...all, core, clock }));
    },
    // Resumed at the moment of the snapshot: nothing was missed.
    resume: async (bytes, core, step) => {
      now = START + HOUR * (step - 1);
      return fed(await restoreEvents(bytes, SNAPSHOT_KEY, { ...all, core, clock }));
    },
  };
}

const tuning = { fanout: 4 } as const;
const base = { epsilon: 1, max: 100, holdout: 512, maxRange: 2048, tuning } as const;
export const PINNED: Readonly<Record<string, Pinned>> = {
  defaults: positions({ epsilon: 1, max: 100, holdout: 512, maxRange: 4096 }),
  "with a probe": positions({ ...base, holdout: 1024, maxRange: 256 }),
  shrunk: positions({ ...base, smoother: "shrunk", tuning: { ...tuning, skipLevels: 1 } }),
  median: positions({ ...base, smoother: "median", tuning: { ...tuning, skipLevels: 2 } }),
  "fixed threshold": positions({ ...base, threshold: 30, smoother: { moving: 3 } }),
  paper: positions({ ...base, variant: "paper" }),
  refined: positions({ ...base, tuning: { ...tuning, refine: true } }),
  "sum of events": events({ of: "sum", max: 100, holdout: 0 }),
  "mean of events": events({ of: "mean", max: 100, threshold: 50 }),
  "a person's sum": events({ of: "sum", max: 100, perPerson: { sum: 120, people: 16 } }),
  counter: events({ of: "count" }),
  histogram: events({ edges: [1, 3, 10, 30] }),
};

/** All that steps [from, to) publish. */
export function published(fed: Fed, from: number, to: number): string {
  const out: Float64Array[] = [];
  for (let i = from; i < to; i++) out.push(...fed.step(i));
  return digestOf(...out);
}

/** test/vectors/golden.json */
export interface Golden {
  readonly format: number;
  readonly noise: number;
  readonly draws: Readonly<Record<string, string>>;
  readonly streams: Readonly<
    Record<
      string,
      {
        /** Digest of the numbers published by the whole stream; each snapshot has one of the rest. */
        readonly published: string;
        readonly snapshots: readonly {
          readonly before: number;
          readonly rest: string;
          readonly bytes: string;
        }[];
      }
    >
  >;
}

/** The file, as the code is now. */
export async function goldenNow(format: number, noise: number, core: Core): Promise<Golden> {
  const streams: Record<string, Golden["streams"][string]> = {};
  for (const [name, pinned] of Object.entries(PINNED)) {
    const snapshots = [];
    for (const before of pinned.snapshots) {
      const fed = pinned.begin(core.name);
      published(fed, 0, before);
      const bytes = Buffer.from(await fed.snapshot()).toString("base64");
      snapshots.push({ before, rest: published(fed, before, pinned.steps), bytes });
    }
    streams[name] = { published: published(pinned.begin(core.name), 0, pinned.steps), snapshots };
  }
  return { format, noise, draws: draws(core), streams };
}
