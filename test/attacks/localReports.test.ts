/**
 * Malicious devices and careless callers: reports, batches and options are made to throw, to call back, to change while they
 * are read, to never end, or to borrow fields from a prototype. The server must stay as it was, or take the batch as a whole.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type PaperAggregator,
  aggregator,
  type Report,
  reporter,
  type PaperReporterOptions,
} from "../../src/index.js";
import { unpackReport } from "../../src/reporter.js";
import { BATCH_LIMIT } from "../../src/local/intake.js";

const OPTIONS = { variant: "paper" as const, epsilon: 1, max: 512, holdout: 100, maxRange: 1024 };
const device = (seed: string, options: Partial<PaperReporterOptions> = {}) =>
  reporter({ variant: "paper", epsilon: 1, max: 512, phase: "learn", unsafeSeed: seed, ...options });
const learnt = device("learn").reportMany(Array.from({ length: 100 }, (_, i) => i));
const reports = (bytes: Uint8Array): Report[] =>
  Array.from({ length: bytes.length / 8 }, (_, i) => unpackReport(bytes, 8 * i)!);

async function ready(): Promise<{ server: PaperAggregator; batch: Uint8Array }> {
  const server = aggregator(OPTIONS);
  server.learn(learnt);
  const threshold = await server.threshold();
  const batch = device("release", { phase: "release", threshold }).reportMany([1, 2, 3, 4, 5]);
  server.release(batch.subarray(0, 16));
  return { server, batch: batch.slice(16) };
}

/** All that can be seen of a server. */
const seen = (server: PaperAggregator) =>
  JSON.stringify([server.statement(), server.range(0, server.length)]);

afterEach(() => {
  for (const name of [
    "cell",
    "unsafeSeed",
    "threshold",
    "signal",
    "onProgress",
    "confidence",
    "tuning",
    "core",
  ])
    delete (Object.prototype as Record<string, unknown>)[name];
  vi.restoreAllMocks();
});

describe("a batch whose iterator calls back into the server", () => {
  test.each(["learn", "release"] as const)(
    "%s: the inner call fails by name, the outer one is whole",
    async (inner) => {
      const { server, batch } = await ready();
      const twin = (await ready()).server;
      const messages: string[] = [];
      const calling = function* () {
        for (const report of reports(batch)) {
          try {
            server[inner](batch);
          } catch (error) {
            messages.push((error as Error).message);
          }
          yield report;
        }
      };
      expect(server.release(calling())).toEqual(twin.release(batch));
      expect(new Set(messages)).toEqual(
        new Set([`${inner}: expected no call while a batch is being read; take one batch after the other`]),
      );
      expect(seen(server)).toBe(seen(twin));
    },
  );

  test("a getter that throws on the third report, and one that calls back, change nothing", async () => {
    const { server, batch } = await ready();
    const before = seen(server);
    const [one, two, three] = reports(batch);
    const trap = (get: () => unknown) =>
      Object.defineProperty({ ...three! }, "cell", { get, enumerable: true });
    const boom = () => {
      throw new Error("boom");
    };
    expect(() => server.release([one!, two!, trap(boom)])).toThrow("boom");
    expect(() => server.release([one!, two!, trap(() => server.release(batch))])).toThrow(
      /^release: expected no call/,
    );
    expect(seen(server)).toBe(before);
    expect(server.release(batch)).toHaveLength(3); // the door is open again
  });
});

describe("fields that are not there", () => {
  test("a cell on Object.prototype does not complete a report", () => {
    const { cell, ...without } = reports(learnt)[0]!;
    Object.assign(Object.prototype, { cell });
    const server = aggregator(OPTIONS);
    expect(server.learn([without as Report, Object.create(reports(learnt)[0]!) as Report])).toBe(0);
    expect(server.rejected).toMatchObject({ cell: 1, malformed: 1 });
  });

  test("options on Object.prototype are no options", async () => {
    Object.assign(Object.prototype, {
      unsafeSeed: "x",
      threshold: 64,
      confidence: 7,
      signal: 5,
      onProgress: 5,
      core: "gpu",
    });
    const [a, b] = [1, 2].map(() => reporter({ variant: "paper", epsilon: 1, max: 512, phase: "learn" }));
    // A cell has a probability below 10⁻⁵: four reports agree less than once in 10²⁰.
    const cells = (of: typeof a) => [1, 2, 3, 4].map((value) => of!.report(value).cell);
    expect(a!.private).toBe(true);
    expect(cells(a)).not.toEqual(cells(b));
    const server = aggregator(OPTIONS);
    server.learn(learnt);
    await server.threshold();
    expect(server.range(0, 0).confidence).toBe(0.95);
    Object.assign(Object.prototype, { tuning: { estimator: "ems" } });
    expect(aggregator(OPTIONS).statement().estimator).toBe("em");
  });
});

describe("batches that are not what they say", () => {
  test("bytes with a false length are read by their true one", () => {
    const server = aggregator(OPTIONS);
    const cut = learnt.slice(0, 4);
    Object.defineProperty(cut, "length", { value: 8 });
    expect(server.learn([cut])).toBe(0);
    const long = new Uint8Array(learnt.buffer, 0, 8);
    Object.defineProperty(long, "length", { value: 80 });
    expect(server.learn(long)).toBe(1);
    expect(server.rejected.malformed).toBe(1);
  });

  test("a report that answers differently each time is read once", () => {
    const [good] = reports(learnt);
    let reads = 0;
    const shifty = Object.defineProperty({ ...good! }, "cell", {
      get: () => (++reads === 1 ? good!.cell : -1),
      enumerable: true,
    });
    expect(aggregator(OPTIONS).learn([shifty])).toBe(1);
    expect(reads).toBe(1);
  });

  test("an endless batch ends with an error and changes nothing", () => {
    const server = aggregator(OPTIONS);
    const endless: Iterable<Report> = {
      [Symbol.iterator]: () => ({ next: () => ({ done: false, value: null! }) }),
    };
    expect(() => server.learn(endless)).toThrow(
      `reports: expected at most ${BATCH_LIMIT} in a batch, got more`,
    );
    expect(server.rejected.malformed).toBe(0);
  });

  test("the device's own batch is read once, and a getter that calls back spoils nothing", () => {
    const [plain, tried] = [device("batch"), device("batch")];
    const calling = Object.defineProperty([0, 5], 0, {
      get: () => (expect(tried.report(1)).toEqual(plain.report(1)), 4),
    });
    expect(tried.reportMany(calling)).toEqual(plain.reportMany([4, 5]));
    const throwing = Object.defineProperty([0], 0, {
      get: () => {
        throw new Error("boom");
      },
    });
    expect(() => tried.reportMany(throwing)).toThrow("boom");
    expect(tried.report(7)).toEqual(plain.report(7));
  });
});

describe("no memory", () => {
  /** Makes the n-th allocation of this kind fail, for every n until none is left. */
  function starve<T>(
    kind: "Float64Array" | "Uint32Array" | "Uint8Array",
    call: () => T,
    check: () => void,
  ): { result: T; failures: number } {
    const Original = globalThis[kind];
    for (let n = 1; ; n++) {
      let left = n;
      const Starved = new Proxy(Original, {
        construct(target, args, self): object {
          if (--left === 0) throw new RangeError("Array buffer allocation failed");
          return Reflect.construct(target, args, self === Starved ? target : self) as object;
        },
      });
      vi.stubGlobal(kind, Starved);
      try {
        const result = call();
        vi.unstubAllGlobals();
        if (left > 0) return { result, failures: n - 1 };
      } catch (error) {
        vi.unstubAllGlobals();
        expect((error as Error).message).toBe("Array buffer allocation failed");
        check();
      }
    }
  }

  test.each(["Float64Array", "Uint32Array", "Uint8Array"] as const)(
    "release: if any %s cannot be had, nothing of the batch is received",
    async (kind) => {
      const { server } = await ready();
      const threshold = await server.threshold();
      const large = device("large", { phase: "release", threshold }).reportMany(
        new Array<number>(3000).fill(7),
      );
      const before = seen(server);
      const { result, failures } = starve(
        kind,
        () => server.release(large),
        () => expect(seen(server)).toBe(before),
      );
      expect(failures).toBeGreaterThan(0);
      expect(result).toHaveLength(3000);
      expect(server.length).toBe(3002);
    },
  );
});

describe("Symbols and BigInts", () => {
  const WRONG = [Symbol("s"), 1n, {}, () => 0, true];
  test.each(["epsilon", "max", "holdout", "maxRange", "history", "core", "tuning"])("%s", (name) => {
    for (const wrong of WRONG) {
      if (name === "tuning" && typeof wrong === "object") continue;
      expect(() => aggregator({ ...OPTIONS, [name]: wrong })).toThrow(new RegExp(`^${name}: expected`));
    }
  });
  test.each(["learnEpsilon", "estimator", "tail", "objective"])("tuning.%s", (name) => {
    for (const wrong of WRONG)
      expect(() => aggregator({ ...OPTIONS, tuning: { [name]: wrong } })).toThrow(
        new RegExp(`^${name}: expected`),
      );
  });
  test("calls", async () => {
    const { server } = await ready();
    for (const wrong of WRONG as never[]) {
      expect(() => server.learn(wrong)).toThrow(/^reports: expected an iterable/);
      expect(() => server.range(wrong, 2)).toThrow(/^range\(.*\): from: expected a whole number/);
      expect(() => server.range(0, wrong)).toThrow(/^range\(.*\): to: expected a whole number/);
      expect(() => server.range(0, 1, { confidence: wrong })).toThrow(/^confidence: expected/);
      expect(() =>
        reporter({ variant: "paper", epsilon: 1, max: 1, phase: "learn", unsafeSeed: wrong }),
      ).toThrow(/^unsafeSeed: expected/);
      await expect(server.distribution({ signal: wrong })).rejects.toThrow(
        /^signal: expected an AbortSignal/,
      );
      if (typeof wrong !== "function")
        await expect(server.distribution({ onProgress: wrong })).rejects.toThrow(
          /^onProgress: expected a function/,
        );
    }
  });
});
