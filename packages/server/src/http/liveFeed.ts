/** Sends what is published to all readers of `/v1/live`: every answer is computed and serialised once for all of them. */
import type { ClosedSpan } from "brume";
import type { Readable } from "node:stream";
import type { Service } from "../service.js";

/** A reader that is this many bytes behind is disconnected; it comes back by itself. */
const MOST_BUFFERED = 1 << 20;
/** Answers that are sent together: a write to a connection costs more than its bytes. */
const TOGETHER = 32;
export const LIVE_QUANTILES = [0.5, 0.95, 0.99];

/** Readers that follow the same metric and key. */
interface Group {
  readonly metric: string | undefined;
  readonly key: string | undefined;
  readonly readers: Set<Readable>;
}

interface Message {
  readonly metric: string;
  readonly key: string;
  readonly bytes: Buffer;
}

export class LiveFeed {
  readonly #service: Service;
  readonly #groups = new Map<string, Group>();
  /** Publications that were not sent yet, one per metric: its newest, from where the first one began. */
  readonly #pending = new Map<string, ClosedSpan>();
  readonly #stopListening: () => void;
  #sending = false;
  readers = 0;

  constructor(service: Service) {
    this.#service = service;
    this.#stopListening = service.listen((span) => this.#take(span));
  }

  /** Sends to a stream until it closes. */
  add(stream: Readable, metric: string | undefined, key: string | undefined): void {
    const name = JSON.stringify([metric, key]);
    const group = this.#groups.get(name) ?? { metric, key, readers: new Set() };
    this.#groups.set(name, group);
    group.readers.add(stream);
    this.readers++;
    stream.once("close", () => {
      this.readers--;
      group.readers.delete(stream);
      if (group.readers.size === 0 && this.#groups.get(name) === group) this.#groups.delete(name);
    });
  }

  /** Sends the same bytes to all readers. */
  send(bytes: Buffer): void {
    for (const { readers } of this.#groups.values()) sendTo(readers, bytes);
  }

  /** Ends all streams. */
  end(): void {
    this.#stopListening();
    for (const { readers } of this.#groups.values()) for (const stream of readers) stream.push(null);
    this.#groups.clear();
  }

  #take(span: ClosedSpan): void {
    if (this.readers === 0) return;
    const earlier = this.#pending.get(span.metric);
    this.#pending.set(span.metric, earlier === undefined ? span : { ...span, from: earlier.from });
    if (!this.#sending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    for (const [name, span] of this.#pending) {
      this.#pending.delete(name);
      await this.#sendSpan(span).catch(() => undefined); // the service has ended, or its store fails
    }
    this.#sending = false;
  }

  async #sendSpan({ metric, from, to }: ClosedSpan): Promise<void> {
    const { type, keys, hasKeys } = this.#service.metric(metric)!.metric;
    const asked = type === "histogram" ? { quantiles: LIVE_QUANTILES } : {};
    let messages: Message[] = [];
    for (const key of keys) {
      if (![...this.#groups.values()].some((group) => follows(group, { metric, key }))) continue;
      const answer = await this.#service.ask(metric, key, { from, to }, asked);
      const text = JSON.stringify({ metric, ...(hasKeys ? { key } : {}), ...answer });
      messages.push({ metric, key, bytes: Buffer.from(`data: ${text}\n\n`) });
      if (messages.length < TOGETHER) continue;
      this.#deliver(messages);
      messages = [];
    }
    this.#deliver(messages);
  }

  #deliver(messages: readonly Message[]): void {
    for (const group of this.#groups.values()) {
      const wanted = messages.filter((message) => follows(group, message));
      if (wanted.length > 0) sendTo(group.readers, Buffer.concat(wanted.map(({ bytes }) => bytes)));
    }
  }
}

const follows = (
  { metric, key }: Group,
  published: { readonly metric: string; readonly key: string },
): boolean =>
  (metric === undefined || metric === published.metric) && (key === undefined || key === published.key);

function sendTo(readers: ReadonlySet<Readable>, bytes: Buffer): void {
  for (const stream of readers)
    if (stream.readableLength > MOST_BUFFERED) stream.destroy();
    else stream.push(bytes);
}
