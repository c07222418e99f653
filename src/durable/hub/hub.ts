/** Many streams in one process, each named by a key and with noise of its own. */
import { checkValues } from "../../core/batches.js";
import { checkInteger, checkValue } from "../../core/checks.js";
import { given } from "../../core/given.js";
import type { RangeAnswer } from "../../stream/answer/answer.js";
import { heldOut, resolveSettings, type Settings, type StreamOptions } from "../../stream/options.js";
import { snapshotKey } from "../../snapshot/streamCipher.js";
import { explainStatement, type Statement } from "../../stream/statement.js";
import { HoldoutStream } from "../../stream/holdoutStream.js";
import type { RangeOptions } from "../../stream/system.js";
import { Committer } from "../journal/committer.js";
import type { EachOptions, HubSettings } from "./hubOptions.js";
import { type Begins, LiveStreams } from "./liveStreams.js";
import { checkHubName, MARK } from "../budget/budget.js";
import { HubCharge } from "../budget/hubCharge.js";
import { durableKindOf, DurableStream } from "../durableStream.js";
import { openDurable, type Place } from "../openDurable.js";
import { heldOutPartly, HOLDOUT, SharedThreshold } from "./sharedThreshold.js";

/** How far a stream is. */
export interface HubProgress {
  /** Values that this stream received; those of a shared hold-out are not among them. */
  readonly received: number;
  /** Positions that this stream published. */
  readonly length: number;
  /** The number of its newest stored snapshot. */
  readonly sequence: number;
  /** Values held out to choose θ, and how many it takes: of this stream, or of the whole hub if θ is shared. */
  readonly holdout: { readonly received: number; readonly of: number };
}

/** Counters that tell nothing about values. */
export interface HubStats {
  /** Streams in memory. */
  readonly live: number;
  /** Streams that were opened: begun, or read from the store. */
  readonly opened: number;
  /** Streams that were put away to make room. */
  readonly closed: number;
  /** Commits that another process was faster with. */
  readonly conflicts: number;
  /** Calls of the store that stored something. */
  readonly commits: number;
  /** Snapshots that were stored. */
  readonly snapshots: number;
  /** Times that a snapshot was read back because the store had failed. */
  readonly retries: number;
  /** Numbers published. */
  readonly published: number;
}

/** A question about positions. */
interface Asked {
  readonly call: string;
  readonly from: number;
  readonly to: number;
}

export class Hub {
  readonly #settings: HubSettings;
  readonly #committer: Committer;
  readonly #place: Promise<Place>;
  #charge: HubCharge | undefined;
  readonly #live: LiveStreams;
  readonly #shared: SharedThreshold | undefined;
  /** Values that one stream holds out by itself. */
  readonly #holdout: number;
  /** Settings of its streams, made with the first one: a shared θ is known by then. */
  #common: Settings | undefined;
  #published = 0;
  readonly #calls = new RunningCalls();

  /** @param begins charges each stream before its first value, where the caller has the odometer */
  constructor(settings: HubSettings, begins?: Begins) {
    const { live, store, commitEvery, threshold, budget } = settings;
    this.#settings = settings;
    const charge = budget === undefined ? begins : (name: string) => this.#begin(name);
    this.#live = new LiveStreams((name) => this.#open(name), live, charge);
    this.#committer = new Committer(store, commitEvery);
    this.#holdout = heldOut(resolveSettings(this.#optionsOf(HOLDOUT))); // wrong options fail here
    if (threshold === "shared") resolveSettings(sharing(settings.options, settings.options.max));
    if (threshold === "shared") this.#shared = new SharedThreshold(this.#live, this.#holdout);
    this.#place = this.#prepare();
    this.#place.catch(() => undefined); // the first call rejects with it
  }

  /** Streams open at the moment. */
  get live(): number {
    return this.#live.size;
  }

  /** Receives a value for one stream and gives the private number for its position, `undefined` during a hold-out. */
  push(name: string, value: number): Promise<number | undefined> {
    // A stream that is open takes the value at once, without the promises of the long way.
    const stream = !this.#calls.closed && this.#isOpen ? this.#live.ready(name) : undefined;
    if (stream === undefined || this.#isHoldout(stream) || !this.#settings.keys.has(name))
      return this.#pushSlowly(name, value);
    return stream.push(value).then(
      (number) => {
        if (number !== undefined) this.#published++;
        return number;
      },
      (error: unknown) => {
        if (this.#live.countConflict(error)) return this.#pushSlowly(name, value);
        throw error;
      },
    );
  }

  async #pushSlowly(name: string, value: number): Promise<number | undefined> {
    const [number] = await this.#receive(name, Float64Array.of(checkValue(value)));
    return number;
  }

  /** Receives a batch for one stream and gives its published numbers. */
  async pushMany(name: string, values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.#receive(name, checkValues(values));
  }

  /** Takes a batch of values that are checked already, and that nobody changes. Not for callers: hence no method. */
  static receive(hub: Hub, name: string, batch: Float64Array): Promise<Float64Array> {
    return hub.#receive(name, batch);
  }

  async #receive(name: string, batch: Float64Array): Promise<Float64Array> {
    this.#checkName(name);
    this.#beginCall();
    try {
      if (!this.#settings.keys.has(name)) return new Float64Array(0);
      const held = (await this.#shared?.hold(batch, () => this.#reach(name))) ?? 0;
      if (held > 0 && held === batch.length) return new Float64Array(0);
      const rest = held === 0 ? batch : batch.subarray(held);
      const receive = (stream: DurableStream) => DurableStream.receive(stream, rest);
      const received = rest.length === 0 ? this.#live.use(name, receive) : this.#live.add(name, receive);
      const out = await received.catch((error: unknown) => {
        throw held === 0 ? error : heldOutPartly(error);
      });
      this.#published += out.length;
      return out;
    } finally {
      this.#calls.end();
    }
  }

  /** The numbers that one stream published at positions [from, to), read again. */
  published(name: string, from: number, to: number): Promise<Float64Array> {
    return this.#ask(name, (stream) => stream.published(from, to), { call: "published", from, to });
  }

  /** Sum and mean over published positions [from, to) of one stream. */
  range(name: string, from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.#ask(name, (stream) => stream.range(from, to, options), { call: "range", from, to });
  }

  /** How far one stream is. */
  progress(name: string): Promise<HubProgress> {
    return this.#ask(name, (stream) => Promise.resolve(this.#progressOf(stream)));
  }

  /** The privacy statement of one stream. Each value goes to one stream, so ε holds for all streams together. */
  statement(name: string): Promise<Statement> {
    return this.#ask(name, async (stream) => this.#complete(await stream.statement()));
  }

  /** The privacy statement of one stream for people, as a short text. */
  explain(name: string): Promise<string> {
    return this.#ask(name, async (stream) => {
      const { holdout } = this.#progressOf(stream);
      const text = explainStatement(this.#complete(await stream.statement()));
      return holdout.received < holdout.of
        ? `${text}\nNothing is published yet; ${sayHoldout(holdout)}.`
        : text;
    });
  }

  /** The names of the streams: the list of `keys` if there is one, else those that have received a value. */
  names(): Promise<string[]> {
    return this.#call(async () => {
      const { keys, store } = this.#settings;
      const names = keys.list ?? [...(await store.names()), ...this.#live.names()];
      return [...new Set(names)]
        .filter((name) => (name !== HOLDOUT || this.#shared === undefined) && !name.startsWith(MARK))
        .sort();
    });
  }

  /** Removes one stream from the store. A value for its name begins a new one. No other process may have it open. */
  remove(name: string): Promise<void> {
    return this.#ask(name, async (stream) => {
      if (this.#isHoldout(stream)) return; // no stream has a value yet
      await stream.close();
      if (stream.sequence > 0) await this.#settings.store.remove(name, stream.sequence);
    });
  }

  /** Public counters. */
  stats(): HubStats {
    return { ...this.#live.stats, ...this.#committer.stats, published: this.#published };
  }

  /**
   * Ends this hub: waits for the calls that are running, then stores every stream; another hub on the same store resumes.
   * Later calls are refused. Rejects if a stream could not be stored, after all were tried.
   */
  close(): Promise<void> {
    return this.#calls.close(() => this.#live.close());
  }

  /** A question about one stream; names that are no keys are refused, since keys are public. */
  #ask<T>(name: string, act: (stream: DurableStream) => Promise<T>, asked?: Asked): Promise<T> {
    this.#checkName(name);
    return this.#call(async () => {
      if (!this.#settings.keys.has(name))
        throw new RangeError(`name: expected one of the keys, got ${JSON.stringify(name)}`);
      await this.#shared?.hold(NO_VALUES, NOTHING); // learns θ if it is stored
      return this.#live.use(this.#isOpen ? name : HOLDOUT, (stream) => {
        const { length, holdout } = this.#progressOf(stream);
        if (asked !== undefined && asked.to > asked.from && length === 0 && holdout.received < holdout.of)
          throw new RangeError(
            `${asked.call}(${asked.from}, ${asked.to}): nothing is published yet; ${sayHoldout(holdout)}`,
          );
        return act(stream);
      });
    });
  }

  #checkName(name: string): void {
    checkHubName(name);
    if (name === HOLDOUT && this.#shared !== undefined)
      throw new RangeError("name: expected a name that is not empty when θ is shared, got an empty one");
  }

  async #call<T>(act: () => Promise<T>): Promise<T> {
    this.#beginCall();
    try {
      return await act();
    } finally {
      this.#calls.end();
    }
  }

  #beginCall(): void {
    this.#settings.store.checkOutside();
    this.#calls.begin();
  }

  /** Whether streams receive values: θ is chosen if they share one. */
  get #isOpen(): boolean {
    return this.#shared === undefined || this.#shared.theta !== undefined;
  }

  /** Before θ is chosen, the stream that holds values out stands for all others. */
  #isHoldout(stream: DurableStream): boolean {
    return this.#shared !== undefined && stream.name === HOLDOUT;
  }

  #progressOf(stream: DurableStream): HubProgress {
    const { received, length, sequence } = this.#isHoldout(stream)
      ? { received: 0, length: 0, sequence: 0 }
      : stream;
    const { received: held, of } = this.#shared ?? {
      received: Math.min(received, this.#holdout),
      of: this.#holdout,
    };
    return { received, length, sequence, holdout: { received: held, of } };
  }

  /** A shared θ was chosen by values of the hub: the statement says so. */
  #complete(statement: Statement): Statement {
    const [stage] = this.#shared?.statement?.stages ?? [];
    return stage === undefined
      ? statement
      : { ...statement, stages: [stage, ...statement.stages], composition: SHARED_COMPOSITION };
  }

  #optionsOf(name: string): StreamOptions & { readonly name: string } {
    const { options, threshold } = this.#settings;
    const { unsafeSeed } = options;
    const seed = unsafeSeed === undefined ? {} : { unsafeSeed: `${unsafeSeed}/${name}` }; // noise of its own even then
    if (threshold !== "shared") return { ...options, ...seed, ...given({ threshold }, ["threshold"]), name };
    if (name !== HOLDOUT) return { ...sharing(options, this.#shared!.theta!), ...seed, name };
    // Values of many streams, mixed, say nothing about how fast one of them changes: all of them choose θ.
    const { skipped } = resolveSettings(options).tree;
    return {
      ...options,
      ...seed,
      tuning: { ...options.tuning, warmStart: false, skipLevels: skipped },
      name,
    };
  }

  /** Fails if the store cannot give the stream now, so that a batch for it changes nothing. */
  async #reach(name: string): Promise<void> {
    const { store } = this.#settings;
    if (store.durable) await store.get(name); // others give a stream to one caller only, and are in memory
  }

  async #open(name: string): Promise<DurableStream> {
    const atLeast = checkInteger("atLeast", this.#settings.atLeast(name), 0, Number.MAX_SAFE_INTEGER);
    const place = await this.#place;
    const beginning = durableKindOf(this.#settingsOf(name), name);
    return new DurableStream(await openDurable(place, name, atLeast, undefined, beginning));
  }

  /** Streams differ in their names alone, but for the one that holds values out, and for seeds. */
  #settingsOf(name: string): Settings {
    const seeded = this.#settings.options.unsafeSeed !== undefined;
    if (seeded || (this.#shared !== undefined && name === HOLDOUT))
      return resolveSettings(this.#optionsOf(name));
    return (this.#common ??= resolveSettings(this.#optionsOf(name)));
  }

  async #prepare(): Promise<Place> {
    const { store, key, budget } = this.#settings;
    const place = { store, committer: this.#committer, key: await snapshotKey(key) };
    const release = HoldoutStream.begin(resolveSettings(this.#optionsOf(HOLDOUT))).statement();
    this.#charge = await HubCharge.open(budget, release, store, place.key);
    return place;
  }

  async #begin(name: string): Promise<void> {
    await this.#place;
    await this.#charge!.begin(name);
  }
}

/** The calls of a hub that are running: closing waits for them, and later ones are refused. */
class RunningCalls {
  #count = 0;
  #whenIdle: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** A call that begins must end, also if it fails. */
  begin(): void {
    if (this.closed)
      throw new Error("hub: expected an open hub, got a closed one; make another one on the same store");
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#whenIdle?.();
  }

  /** Ends once, however often it is asked to. @param finish runs when no call is left */
  close(finish: () => Promise<void>): Promise<void> {
    return (this.#closed ??= this.#closeAll(finish));
  }

  async #closeAll(finish: () => Promise<void>): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await finish();
  }
}

/** Options of a stream whose θ others chose. */
const sharing = (options: EachOptions, theta: number): StreamOptions => ({
  ...options,
  threshold: theta,
  holdout: 0,
});

export const SHARED_COMPOSITION =
  "The values that choose θ are the first ones of the hub. They are not published, each other value goes to one stream, and every forest of noise covers values of its own: parallel composition, ε in all.";

const NO_VALUES = new Float64Array(0);
const NOTHING = (): Promise<void> => Promise.resolve();

const sayHoldout = ({ received, of }: HubProgress["holdout"]): string =>
  `holding out: ${received.toLocaleString("en")} of ${of.toLocaleString("en")}`;
