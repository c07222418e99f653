/**
 * Where randomness comes from: one 256-bit key per release, and a ChaCha20 sub-stream per purpose.
 * A sub-stream is a function of (key, purpose, stream, index) alone, so noise can be made again from the key
 * instead of being stored, and no two purposes ever share a word.
 */
import { checkInteger, checkNumber } from "./checks.js";

/**
 * Which noise follows from a key. Raise it with every change of the numbers that a key leads to (sub-streams, samplers,
 * trees, the choice of θ): a snapshot is continued only with the noise that it began with. `test/golden.test.ts` pins it.
 */
export const NOISE_VERSION = 2;

/** Purposes of sub-streams. Numbers are part of the snapshot format: never reuse one. */
export enum Purpose {
  threshold = 1,
  warmStart = 2,
  forest = 3,
  reports = 4,
  baseline = 5,
  /** The default hold-out: its counts, and the probe. */
  holdout = 6,
  probe = 7,
  /** Counts of values above θ, tree by tree. */
  following = 8,
  /** The second choice of θ, by counts as in the hold-out. */
  refining = 9,
  /** Events: the key that hashes ids of people, and the key of the counts of a mean. */
  people = 16,
  column = 17,
  /** Noise of a day of events: its leaves, run by run, and the nodes above them. */
  dayLeaves = 18,
  dayNodes = 19,
  /** Counts of a whole day beside its sums: people above their limit, events above θ. */
  dayCounts = 20,
  /** Votes for keys of a day: their noise, and the key that spreads names over cells. */
  dayVotes = 21,
  voteCells = 22,
  /** The keys of the groups of a file of events. */
  groups = 24,
}

/** A place in a ChaCha20 keystream. Kernels read words from `position` on and move it. */
export interface Random {
  /** 8 words, little-endian. */
  readonly key: Uint32Array;
  /** 3 words, little-endian. */
  readonly nonce: Uint32Array;
  /** 32-bit words read so far, below 2³⁶ (RFC 8439's 2³² blocks). */
  position: number;
}

/** RFC 8439 counts 2³² blocks of 16 words: the end of a sub-stream. */
const POSITION_LIMIT = 2 ** 36;

/** Refuses to read a sub-stream past its end, where the block counter would start again from 0. */
export function checkPosition(position: number): void {
  checkNumber("random: position", position, 0, POSITION_LIMIT); // beyond it, take another sub-stream
}

/** A fresh key from the platform's cryptographic generator. Without one there is no release. */
export function secretKey(): Uint32Array {
  const source = globalThis.crypto as Crypto | undefined;
  if (typeof source?.getRandomValues !== "function")
    throw new Error(
      "crypto.getRandomValues: expected a cryptographic generator, got none; nothing private can be made here",
    );
  return source.getRandomValues(new Uint32Array(8));
}

/**
 * The sub-stream of one purpose, from its first word. Different arguments give different nonces, so that no two
 * purposes share keystream: stream (32 bits) · index, low (32) · index, high (16), tree (8), purpose (8).
 * @param stream an integer below 2³²
 * @param index forest or report number, an integer below 2⁴⁸
 * @param tree top node of a forest, an integer below 2⁸
 */
export function subStream(
  key: Uint32Array,
  purpose: Purpose,
  stream: number,
  index: number,
  tree = 0,
): Random {
  if (key.length !== 8) throw new RangeError(`key: expected 8 words, got ${key.length}`);
  checkBits("stream", stream, 32);
  checkBits("index", index, 48);
  checkBits("tree", tree, 8);
  const high = Math.floor(index / 2 ** 32);
  const nonce = Uint32Array.of(stream, index >>> 0, ((high << 16) | (tree << 8) | purpose) >>> 0);
  return { key, nonce, position: 0 };
}

/** A number that does not fit would be cut to another sub-stream's, and its noise used twice. */
const checkBits = (name: string, value: number, bits: number): number =>
  checkInteger(name, value, 0, 2 ** bits - 1);
