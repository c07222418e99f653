/**
 * Which keys become public, where nobody listed them. The first event of a person and day whose key is not public votes for
 * it; a key that has enough votes already takes none, and the person keeps the vote. When the day is closed, keys whose
 * votes and noise exceed k become public.
 *
 * One person and day moves one cell of votes by 1 (keyVotes.ts), so this is (ε, δ)-private for them: δ = P(X = k) is the
 * probability that a key that only this person used on that day becomes public. It cannot be 0: if it were, no name that
 * nobody listed could ever be said.
 */
import { checkInteger, ownOptions, shown } from "../../core/checks.js";
import type { NoiseCore } from "../../core/core.js";
import { subStream, Purpose } from "../../core/random.js";
import { leastTruncation } from "../../core/tables/truncated.js";
import { noiseScale } from "../../stream/release/forest.js";
import type { Scale } from "../../core/tables/scale.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { DAY } from "../days/calendar.js";
import { dayIndex } from "../days/dayNoise.js";
import { type Duration, parseDuration } from "../days/duration.js";
import { canBecomePublic } from "./keyName.js";
import { type FoundKey, KeyVotes, type VoteRule } from "./keyVotes.js";
import { People } from "../people/people.js";
import { SHARES } from "../shares.js";

/** How keys that nobody listed become public. */
export interface Discover {
  /**
   * δ: the probability that a key that only one person used on a day becomes public, at most. Needed: 1e-9, for example, and
   * far below one over the number of people. Public.
   */
  readonly delta: number;
  /** Share of ε that chooses keys: a multiple of 1/32. Default 1/4. Public. */
  readonly share?: number;
  /** How many found keys are public at a time. Default 10,000. Public. */
  readonly most?: number;
  /** A found key whose numbers of so long cannot be told from 0 is public no more. Default "28d", and at least that. */
  readonly forget?: Duration;
}

/** How votes are counted and tested. */
export interface DiscoveryRule extends VoteRule {
  /** ε of the choice of keys. */
  readonly epsilon: number;
  /** P(X = k), rounded up. */
  readonly delta: number;
  readonly scale: Scale;
}

export interface Discovery {
  readonly rule: DiscoveryRule;
  /** 32nds of ε. */
  readonly share: number;
  /** δ that was asked for; that of the rule is not above it. */
  readonly asked: number;
  readonly most: number;
  /** Milliseconds. */
  readonly forget: number;
}

const DEFAULT_SHARE = 1 / 4;
const MOST_DELTA = 1e-3;
const LEAST_DELTA = 1e-12;
const MOST_KEYS = 65_536;
const CELLS = 2 ** 18;

/**
 * @param epsilon of all that the metric publishes
 * @param call of the option, for messages
 */
export function resolveDiscover(asked: Discover, epsilon: number, call: string): Discovery {
  const own = ownOptions(call, asked, ["delta", "share", "most", "forget"]);
  const { delta, share = DEFAULT_SHARE } = own;
  if (!(typeof delta === "number" && delta >= LEAST_DELTA && delta <= MOST_DELTA))
    throw new RangeError(
      `${call}.delta: expected a number from ${LEAST_DELTA} to ${MOST_DELTA}, such as 1e-9, got ${shown(delta)}; it is the probability that a key that only one person used on a day becomes public, and cannot be 0. List the keys if that is too much`,
    );
  const parts = typeof share === "number" ? share * SHARES : NaN;
  if (!(Number.isInteger(parts) && parts >= 1 && parts <= SHARES - 2))
    throw new RangeError(
      `${call}.share: expected a multiple of 1/32 from 1/32 to 30/32, got ${shown(share)}`,
    );
  return {
    rule: discoveryRule(epsilon, parts, delta),
    share: parts,
    asked: delta,
    most: checkInteger(`${call}.most`, own.most ?? 10_000, 1, MOST_KEYS),
    forget: parseDuration(`${call}.forget`, own.forget ?? "28d", 28 * DAY),
  };
}

/** Truncated noise of scale 32/(ε·share), and the least threshold whose δ is not above the one asked for. */
export function discoveryRule(epsilon: number, share: number, asked: number, cells = CELLS): DiscoveryRule {
  const scale = noiseScale(1, 1, epsilon, share);
  const { k, delta } = leastTruncation({ numerator: scale.denominator, denominator: scale.numerator }, asked);
  const own = (epsilon * share) / SHARES;
  return { k, delta, epsilon: own, scale, cap: k + Math.ceil(6 / own), cells };
}

/** One vote of a person. */
const ONE = { events: 1, perHour: undefined, sum: undefined } as const;
const NOBODY = new Uint32Array(4);

export class KeyDiscovery {
  // Parameters
  readonly rule: DiscoveryRule;
  readonly #core: NoiseCore;
  readonly #key: Uint32Array;
  readonly #room: number;
  // State
  /** People whose vote of a day is used. */
  readonly #voters: People;
  /** By the start of the day. More than one while late events still come. */
  readonly #days = new Map<number, KeyVotes>();

  /**
   * @param key 8 secret words
   * @param room for as many people in a snapshot
   */
  constructor(rule: DiscoveryRule, core: NoiseCore, key: Uint32Array, room: number) {
    this.rule = rule;
    this.#core = core;
    this.#key = key;
    this.#room = room;
    this.#voters = new People(NOBODY, { ...ONE, people: room }, 1);
  }

  #votesOf(day: number): KeyVotes {
    let votes = this.#days.get(day);
    if (votes === undefined) {
      const cells = new Uint32Array(4);
      this.#core.keystream(subStream(this.#key, Purpose.voteCells, 0, dayIndex(day)), cells);
      this.#days.set(day, (votes = new KeyVotes(this.rule, cells)));
    }
    return votes;
  }

  /** Makes room for the votes of a day: the first vote would take milliseconds otherwise, and those after it none. */
  open(day: number): void {
    this.#votesOf(day);
  }

  /**
   * Votes for a key that is not public, if the person has a vote of the day left; says whether it is used.
   * @param hash of the person
   * @param day start of the day
   */
  vote(name: string, hash: Uint32Array, day: number): boolean {
    if (!canBecomePublic(name) || this.#voters.amount(hash, day) > 0) return false;
    if (this.#votesOf(day).vote(name) === "kept") return false;
    this.#voters.admit(hash, day, day, 1);
    return true;
  }

  /** The keys that the votes of a day make public, those with most votes first. Call it once for a day. */
  test(day: number): FoundKey[] {
    return this.#votesOf(day).test(this.#core, this.rule.scale, this.#key, dayIndex(day));
  }

  /** The keys that the votes of any day make public, each day by itself. Call it once; votes are wiped. */
  testAll(): FoundKey[] {
    const found = [...this.#days.keys()].flatMap((day) => this.test(day));
    this.forgetBefore(Infinity);
    return found;
  }

  /** Wipes the votes of days before one. */
  forgetBefore(day: number): void {
    this.#voters.forgetBefore(day, day);
    for (const [start, votes] of this.#days) {
      if (start >= day) continue;
      votes.wipe();
      this.#days.delete(start);
    }
  }

  /** Writes the votes of these days, whether or not there were any. */
  save(writer: Encoder, days: readonly number[]): void {
    this.#voters.save(writer, days, []);
    const all = [...new Set([...days, ...this.#days.keys()])].sort((a, b) => a - b);
    writer.count(all.length);
    for (const day of all) {
      writer.double(day);
      this.#votesOf(day).save(writer, this.#room);
    }
  }

  load(reader: Decoder): void {
    this.#voters.load(reader);
    for (let left = reader.count(); left > 0; left--) this.#votesOf(reader.double()).load(reader);
  }
}
