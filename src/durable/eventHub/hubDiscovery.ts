/**
 * Keys of a hub's metric that nobody listed: which of them are public on a day, whose events vote, and what the votes of a
 * day that has ended change. Votes are counted by `KeyDiscovery`; a row of the journal says their outcome before it acts.
 */
import { type Day, DAY } from "../../events/days/calendar.js";
import type { Discovery, KeyDiscovery } from "../../events/keys/keyDiscovery.js";
import { OTHER_KEYS } from "../../events/keys/keyName.js";
import type { EventMetric } from "../../events/eventMetric.js";
import type { ReadEvent } from "../../events/intake.js";
import type { Schedule } from "../../events/eventSettings.js";
import type { Published } from "../../events/release.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { FoundKeys } from "./eventRow.js";
import type { HubKeys, KeyRecord, MetricRecord } from "./hubKeys.js";

/** Reads the numbers that a key published in a range of time; undefined if there are none. */
type ReadPublished = (key: string, from: number, to: number) => Promise<Published | undefined>;

/** Keys are looked at in turn, a part of them at each midnight: all of them within so many days. */
const LOOKS = 28;
/** Days that have room for votes before there are any: more are open if nobody closes them, or if a sender's clock may be far ahead. */
const MOST_OPEN = 4;

export class HubDiscovery {
  // Parameters
  readonly #record: MetricRecord;
  readonly #keys: HubKeys;
  readonly #discovery: Discovery;
  readonly #schedule: Schedule;
  // State
  readonly #votes: KeyDiscovery;
  /** Starts of days that have ended and whose votes no row has said the outcome of: it is computed when a row is to say it. */
  #ended: number[] = [];

  /** @param keys of the record, by their numbers */
  constructor(
    record: MetricRecord,
    keys: HubKeys,
    discovery: Discovery,
    schedule: Schedule,
    votes: KeyDiscovery,
  ) {
    this.#record = record;
    this.#keys = keys;
    this.#discovery = discovery;
    this.#schedule = schedule;
    this.#votes = votes;
  }

  /** The number of the key that an event of a day counts under, by what was public before that day began. */
  route(name: string, day: number): number {
    const number = this.#keys.numberOf(name);
    if (number !== undefined && this.#keys.publishes(this.#record.keys[number]!, day)) return number;
    return this.#keys.numberOf(OTHER_KEYS)!;
  }

  /** Votes for the key of an event, unless it is public or will be; says whether a vote is used. */
  vote(name: string, { hash, day }: ReadEvent): boolean {
    const number = this.#keys.numberOf(name);
    if (number !== undefined && isPublicFrom(this.#record.keys[number]!, day)) return false;
    return this.#votes.vote(name, hash, day);
  }

  /**
   * Makes room for the votes of days that take events. Call it with every row, whether or not anybody voted.
   * @param running the day that is running
   * @param time of the row
   */
  openDays(running: Day, time: number): void {
    const { calendar, skew } = this.#schedule;
    let day = running;
    for (let left = MOST_OPEN; left > 0 && day.start <= time + skew; left--) {
      this.#votes.open(day.start);
      day = calendar.dayAt(day.end);
    }
  }

  /** Counts a vote again that a stored row says was used. */
  replayVote(name: string, { hash, day }: ReadEvent): void {
    this.#votes.vote(name, hash, day);
  }

  /** Whether a name is public or was found once: all that an answer about a key depends on. */
  isKnown(name: string): boolean {
    const number = this.#keys.numberOf(name);
    if (number === undefined) return false;
    const { since, spans } = this.#record.keys[number]!;
    return spans !== undefined || !Number.isNaN(since);
  }

  /** Keys that are public on a day or will be from a later one that has been fixed; the one for all others comes last. */
  publicFrom(day: number): readonly string[] {
    const names = this.#record.keys.filter((key) => isPublicFrom(key, day)).map(({ name }) => name);
    return [...names.filter((name) => name !== OTHER_KEYS), OTHER_KEYS];
  }

  /**
   * Tests the votes of days that have ended; undefined if there are none since the last row that said an outcome. A row
   * must say this one.
   * @param told no event has a part in this time; changes take effect with the first day that starts after it
   */
  async test(told: number, metric: EventMetric, published: ReadPublished): Promise<FoundKeys | undefined> {
    if (this.#ended.length === 0) return undefined;
    const { keys, number: own } = this.#record;
    const { most } = this.#discovery;
    const from = Math.max(this.#schedule.calendar.dayAt(told + this.#schedule.skew).end, metric.day.end);
    const gone = await this.#quietKeys(metric, from, published);
    const now =
      keys.filter(({ spans }) => spans !== undefined && spans.at(-1)![1] > from).length - gone.length;
    const found = this.#ended.flatMap((day) => this.#votes.test(day).slice(0, most));
    const names = found.map(({ name }) => name);
    const added = names.filter((name) => {
      const number = this.#keys.numberOf(name);
      return number === undefined || !isPublicFrom(keys[number]!, from);
    });
    const room = Math.max(0, most - now);
    return { metric: own, from, added: [...new Set(added)].slice(0, room), gone };
  }

  /** Found keys whose numbers of the last `forget` cannot be told from 0: a part of them, in turn. */
  async #quietKeys(metric: EventMetric, from: number, published: ReadPublished): Promise<string[]> {
    const { forget } = this.#discovery;
    const to = metric.day.start;
    const turn = ((Math.round(to / DAY) % LOOKS) + LOOKS) % LOOKS;
    const quiet: string[] = [];
    for (const chunk of this.#keys.chunks) {
      if (chunk.index % LOOKS !== turn) continue;
      for (const { name, since, spans } of this.#keys.of(chunk)) {
        const [start, end] = spans?.at(-1) ?? [Infinity, 0];
        if (!(start <= to - forget && end > from) || !Number.isNaN(since)) continue;
        const numbers = await published(name, to - forget, to);
        if (numbers !== undefined && isQuiet(numbers, to - forget, to, metric.nodeNoise.variance))
          quiet.push(name);
      }
    }
    return quiet;
  }

  /** Writes an outcome of votes into the records of keys, which all have numbers. */
  record({ from, added, gone }: FoundKeys): void {
    const of = (name: string): KeyRecord => this.#record.keys[this.#keys.numberOf(name)!]!;
    for (const name of added) (of(name).spans ??= []).push([from, Infinity]);
    for (const name of gone) {
      const { spans } = of(name);
      spans!.push([spans!.pop()![0], from]);
    }
  }

  /** Keeps the votes of a day that has ended for their test. @param running start of the day that is running now */
  endDay(day: Day, running: number): void {
    this.#ended.push(day.start);
    this.wipeVotes(running);
  }

  /** Wipes the votes of tested days: a row has said their outcome. */
  endTest(running: number): void {
    this.#ended = [];
    this.wipeVotes(running);
  }

  /** Wipes votes that are tested, or never will be: those of a day that nobody listened to the end of. */
  wipeVotes(running: number): void {
    this.#votes.forgetBefore(Math.min(running, ...this.#ended));
  }

  /** @param days that are open: their votes are written whether or not there are any */
  save(writer: Encoder, days: readonly number[]): void {
    this.#votes.save(writer, days);
    writer.text(JSON.stringify(this.#ended));
  }

  load(reader: Decoder): void {
    this.#votes.load(reader);
    this.#ended = JSON.parse(reader.text()) as number[];
  }
}

/** Whether a key is public on a day or, as has been said already, after it. */
const isPublicFrom = ({ since, spans }: KeyRecord, day: number): boolean =>
  !Number.isNaN(since) || (spans?.at(-1)?.[1] ?? -Infinity) > day;

/** Whether the numbers of a range lie within two standard errors of 0, all columns together. */
function isQuiet(published: Published, from: number, to: number, nodeVariance: number): boolean {
  const { sums, spread } = published.measure(from, to);
  const variance = sums.length * spread.variance * nodeVariance;
  return sums.reduce((sum, x) => sum + x, 0) ** 2 <= 4 * variance;
}
