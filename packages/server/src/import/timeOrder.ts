/**
 * Events of a log in the order of time, with bounded memory and nothing on disk. A first pass counts: which span of time
 * has how many events, and where in the file they are. Later passes keep the events of a span until the last of them is
 * read. A log that is nearly in order needs one pass more; one that is not needs as many as its size is of the memory.
 */
import { MINUTE, Refusal } from "brume/node";

export interface LogEvent {
  readonly metric: string;
  readonly key: string;
  readonly value: number | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly person: string | undefined;
}

/** Reads all events, in the order of the file. */
export type ReadEvents = () => AsyncIterable<LogEvent>;

/** Bytes of events in memory at once. */
export const MEMORY = 2 ** 29;
const MOST_SPANS = 2 ** 18;

/** About the bytes that an event takes in memory. */
const costOf = ({ key, person = "" }: LogEvent): number => 200 + 2 * (key.length + person.length);

export class TimeOrder {
  // Parameters
  readonly #from: number;
  readonly #to: number;
  readonly #memory: number;
  /** Milliseconds of a span. */
  readonly #length: number;
  // State: of each span
  readonly #counts: Float64Array;
  readonly #costs: Float64Array;
  /** The numbers of its first and last event in the file, from 1; 0 if it has none. */
  readonly #firsts: Float64Array;
  readonly #lasts: Float64Array;
  #inOrder = true;

  private constructor(from: number, to: number, memory: number) {
    this.#from = from;
    this.#to = to;
    this.#memory = memory;
    this.#length = MINUTE * Math.ceil((to - from) / MINUTE / MOST_SPANS);
    const spans = Math.ceil((to - from) / this.#length);
    [this.#counts, this.#costs, this.#firsts, this.#lasts] = [
      ...[new Float64Array(spans), new Float64Array(spans)],
      ...[new Float64Array(spans), new Float64Array(spans)],
    ] as [Float64Array, Float64Array, Float64Array, Float64Array];
  }

  /** The first pass. Every event is read, so a log with a mistake is refused before anything is taken. */
  static async of(read: ReadEvents, from: number, to: number, memory = MEMORY): Promise<TimeOrder> {
    const order = new TimeOrder(from, to, memory);
    let [number, newest] = [0, -Infinity];
    for await (const event of read()) {
      number++;
      const span = order.#spanOf(event.at);
      if (span < 0) continue;
      if (event.at < newest) order.#inOrder = false;
      newest = event.at;
      order.#counts[span]!++;
      order.#costs[span]! += costOf(event);
      order.#firsts[span] ||= number;
      order.#lasts[span] = number;
    }
    order.#checkMemory();
    return order;
  }

  /** −1 outside of the time that is imported. */
  #spanOf(at: number): number {
    return at >= this.#from && at < this.#to ? Math.floor((at - this.#from) / this.#length) : -1;
  }

  /** How many events there are. */
  get size(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** All events in the order of time, but for so many at the start. Events of the same time stay in the order of the file. */
  async *events(read: ReadEvents, skip: number): AsyncGenerator<LogEvent> {
    if (this.#inOrder) {
      yield* this.#asTheyAre(read, skip);
      return;
    }
    let [start, left] = [0, skip];
    while (start < this.#counts.length && this.#counts[start]! <= left) left -= this.#counts[start++]!;
    while (start < this.#counts.length) {
      const end = this.#endOfPass(start);
      for await (const event of this.#pass(read, start, end)) if (left-- <= 0) yield event;
      start = end;
    }
  }

  async *#asTheyAre(read: ReadEvents, skip: number): AsyncGenerator<LogEvent> {
    let [left, seen] = [skip, 0];
    for await (const event of read()) {
      if (this.#spanOf(event.at) < 0) continue;
      seen++;
      if (left-- <= 0) yield event;
    }
    if (seen !== this.size) throw changed();
  }

  /** Reads the file once and gives the events of some spans, each as soon as its last one is read. */
  async *#pass(read: ReadEvents, start: number, end: number): AsyncGenerator<LogEvent> {
    const waiting = new Map<number, LogEvent[]>();
    let [number, next] = [0, start];
    for await (const event of read()) {
      number++;
      const span = this.#spanOf(event.at);
      if (span >= start && span < end) {
        const own = waiting.get(span);
        if (own === undefined) waiting.set(span, [event]);
        else own.push(event);
      }
      for (; next < end && this.#lasts[next]! <= number; next++) yield* this.#give(waiting, next);
      if (next === end) return;
    }
    throw changed(); // there were more of them before
  }

  *#give(waiting: Map<number, LogEvent[]>, span: number): Generator<LogEvent> {
    const events = waiting.get(span) ?? [];
    waiting.delete(span);
    if (events.length !== this.#counts[span]) throw changed();
    yield* events.sort((a, b) => a.at - b.at); // stable
  }

  /** The end of the longest run of spans from `start` whose events fit into memory as they are read. */
  #endOfPass(start: number): number {
    let [fits, fails] = [start, this.#counts.length + 1];
    for (let end = this.#counts.length; fails - fits > 1; end = Math.floor((fits + fails) / 2))
      if (this.#peak(start, end) <= this.#memory) fits = end;
      else fails = end;
    return fits;
  }

  #checkMemory(): void {
    if (this.#inOrder || this.#costs.every((cost) => cost <= this.#memory)) return;
    throw new Refusal(
      `import: expected at most ${Math.round(this.#memory / 2 ** 20)} MB of events in ${this.#length / MINUTE} min of a log that is not in the order of time, got more; sort it by time, and import it again: then none are held`,
    );
  }

  /** Bytes of events that a pass over some spans keeps, at most. */
  #peak(start: number, end: number): number {
    const spans: number[] = [];
    const given = new Float64Array(end - start); // the event of the file behind which a span is given
    for (let span = start; span < end; span++) {
      if (this.#counts[span]! > 0) spans.push(span);
      given[span - start] = Math.max(this.#lasts[span]!, given[span - start - 1] ?? 0);
    }
    spans.sort((a, b) => this.#firsts[a]! - this.#firsts[b]!);
    let [bytes, peak, gone] = [0, 0, start];
    for (const span of spans) {
      while (given[gone - start]! < this.#firsts[span]!) bytes -= this.#costs[gone++]!;
      bytes += this.#costs[span]!;
      peak = Math.max(peak, bytes);
    }
    return peak;
  }
}

const changed = (): Refusal => new Refusal(CHANGED);

export const CHANGED =
  "import: the log changed while it was read; what was taken of it stays as it was. Begin with an empty state (another store, and no mark beside it), and import a file that nothing writes to";
