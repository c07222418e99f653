/**
 * All that streams say, pinned: published bits, answers with their error bars, statements, plans and the lengths of
 * snapshots. `npm run golden -- --answers` writes them to test/vectors/answers.json, `test/stream/pinned.slow.test.ts` makes them
 * again. The settings are small and odd on purpose: forests that end inside a tree, a θ that changes, history that is dropped.
 */
import { softwareText } from "../../src/core/software.js";
import { plan, privateStream, type PrivateStream, type StreamOptions } from "../../src/index.js";
import { digestOf, SNAPSHOT_KEY } from "./golden.js";
import { driftingStream, longTailedStream } from "./streams.js";

const NAME = { unsafeSeed: "answers", name: "answers" };

/** Whole numbers, then values that are on no grid and below 0; quiet, then large, then quiet again. */
const PARTS = [longTailedStream(1200, 60, "answers"), driftingStream(2400, 300, "answers")];
export const VALUES = Float64Array.from([
  ...PARTS[0]!,
  ...PARTS[1]!.map((value, i) => value + (i % 7) / 16 - 0.25),
  ...PARTS[0]!.map((value) => value / 3),
]);

/** Lags of every size: a mean that swings about the last block of a family. */
const OWN = (means: readonly number[]): number => (means.length > 6 ? NaN : (means.at(-1)! + means[0]!) / 2);

const small = { epsilon: 1, max: 100, holdout: 200, maxRange: 300 } as const;
export const PINNED_STREAMS: Readonly<Record<string, StreamOptions>> = {
  "follows the stream": { ...small, epsilon: 8, history: 3000, tuning: { fanout: 4, skipLevels: 1 } },
  "follows it without skipping": {
    ...small,
    epsilon: 12,
    maxRange: 200,
    tuning: { fanout: 4, skipLevels: 0 },
  },
  "chooses θ twice": {
    ...small,
    epsilon: 8,
    maxRange: 1000,
    tuning: { fanout: 4, skipLevels: 1, refine: true },
  },
  "with a probe": { ...small, holdout: 1024, maxRange: 256, tuning: { fanout: 4, follow: false } },
  "binary trees": {
    ...small,
    maxRange: 100,
    history: 400,
    smoother: "recent",
    tuning: { fanout: 2, skipLevels: 2, warmStart: false },
  },
  "one level": { ...small, smoother: "mean", tuning: { fanout: 16, skipLevels: 2 } },
  "no level skipped": {
    ...small,
    smoother: "recent",
    tuning: { fanout: 4, skipLevels: 0, warmStart: false },
  },
  "a period": { ...small, smoother: { period: 30 }, tuning: { fanout: 4, skipLevels: 1 } },
  "a short period": { ...small, smoother: { period: 5 }, tuning: { fanout: 3, skipLevels: 2 } },
  median: { ...small, epsilon: 0.5, smoother: "median", tuning: { fanout: 4, skipLevels: 1 } },
  moving: { ...small, threshold: 30, smoother: { moving: 5 }, tuning: { fanout: 4, skipLevels: 2 } },
  exponential: {
    ...small,
    threshold: 20,
    smoother: { exponential: 0.3 },
    tuning: { fanout: 4, warmStart: false },
  },
  "one's own smoother": { ...small, smoother: OWN, tuning: { fanout: 4, skipLevels: 1, resolution: 0.5 } },
  paper: { ...small, variant: "paper", maxRange: 500, tuning: { fanout: 4 } },
  "the paper's, warm": {
    ...small,
    variant: "paper",
    tuning: { fanout: 4, warmStart: true, thresholdStep: 2 },
  },
  "hardly any noise": {
    ...small,
    epsilon: 60,
    smoother: "shrunk",
    tuning: { fanout: 4, skipLevels: 1, follow: false },
  },
  "hardly any value": { ...small, epsilon: 0.05, holdout: 64, tuning: { fanout: 4 } },
};

/** Values received at the moments when a stream is asked. */
const MOMENTS = [0, 100, 190, 1225, 1490, 2911, VALUES.length];

export interface Said {
  readonly received: number;
  /** Digests of the bits, and of the statement's text. */
  readonly published: string;
  /** Digest of published numbers that are read again, from the middle of the history. */
  readonly again: string;
  readonly explained: string;
  readonly statement: object;
  /** Length of a snapshot. */
  readonly bytes: number;
  readonly ranges: readonly (readonly (number | string)[])[];
}

/** Ranges of every kind at a length: empty, whole blocks, part of one, the running block, forests, the end. */
export function rangesUpTo(length: number, oldest: number): [number, number][] {
  const at = (share: number) => oldest + Math.floor(share * (length - oldest));
  const ranges: [number, number][] = [
    [oldest, length],
    [at(0.01), at(0.03)],
    [at(0.1), at(0.93)],
    [at(0.5), at(0.62)],
    [length - Math.min(3, length - oldest), length],
    [length - Math.min(41, length - oldest), length],
    [at(0.25), at(0.25) + Math.min(64, length - at(0.25))],
    [length, length],
  ];
  return ranges;
}

/** Answers, words and statement of a stream, with the numbers that it published since it was asked last. */
export async function saidBy(stream: PrivateStream, published: Float64Array, oldest: number): Promise<Said> {
  const ranges = (["best", "blocks", "published"] as const).flatMap((answer) =>
    rangesUpTo(stream.length, oldest).map(([from, to], i) => {
      const confidence = [0.95, 0.5, 0.99][i % 3]!;
      const { sum, mean, standardError, low, high, hidden } = stream.range(from, to, { answer, confidence });
      const of = hidden === undefined ? [] : [hidden.sum, hidden.low, hidden.high];
      return [answer, from, to, sum, mean, standardError, low, high, ...of];
    }),
  );
  const { stages, thresholds, threshold, noiseScale, settled, clampedShare } = stream.statement();
  const text = stream
    .explain()
    .replace(`\n${softwareText(stream.statement().software)}`, "") // another one with every commit
    .replace(/Core: \w+|, which failed on \d+ blocks/gu, "");
  return {
    received: stream.received,
    published: digestOf(published),
    again: digestOf(stream.published(...rangesUpTo(stream.length, oldest)[2]!)),
    explained: digestOf(new TextEncoder().encode(text)),
    statement: {
      ...{ thresholds, threshold, noiseScale, settled, clampedShare },
      stages: stages.map(({ stage, epsilon, values, which }) =>
        [stage, epsilon, ...values, which ?? ""].join(),
      ),
    },
    bytes: (await stream.snapshot(SNAPSHOT_KEY)).length,
    ranges,
  };
}

/** The oldest position that can still be asked for, as the error message says it. */
function oldestOf(stream: PrivateStream): number {
  try {
    stream.range(0, stream.length);
    return 0;
  } catch (error) {
    return Number(/before (\d+) are no longer kept/u.exec(String(error))![1]);
  }
}

/** A stream from the beginning to the end. @param batched pushes in odd batches, else one by one */
export async function tell(
  options: StreamOptions,
  core: "wasm" | "js",
  batched: boolean,
  between: (stream: PrivateStream, options: StreamOptions) => Promise<PrivateStream> = (stream) =>
    Promise.resolve(stream),
): Promise<Said[]> {
  const all = { ...options, ...NAME, core };
  let stream = privateStream(all);
  const said: Said[] = [];
  let fed = 0;
  for (const moment of MOMENTS) {
    const numbers: number[] = [];
    for (let size = 1; fed < moment; size = batched ? (size * 7) % 97 : 1) {
      const end = Math.min(moment, fed + size);
      if (batched) numbers.push(...stream.pushMany(VALUES.subarray(fed, end)));
      else numbers.push(...[stream.push(VALUES[fed]!)].filter((x) => x !== undefined));
      fed = end;
    }
    said.push(await saidBy(stream, Float64Array.from(numbers), oldestOf(stream)));
    stream = await between(stream, all);
  }
  return said;
}

/** test/vectors/answers.json */
export type Answers = Readonly<Record<string, { readonly plan: object; readonly said: readonly Said[] }>>;

/** As JSON has it: what is undefined is left out, Infinity is null; numbers to eleven digits. */
export const plain = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === "number" && Number.isFinite(part) ? Number(part.toPrecision(11)) : part,
    ),
  ) as T;

export async function answersNow(): Promise<Answers> {
  const answers: Record<string, Answers[string]> = {};
  for (const [name, options] of Object.entries(PINNED_STREAMS))
    answers[name] = plain({ plan: plan({ ...options, ...NAME }), said: await tell(options, "js", true) });
  return answers;
}
