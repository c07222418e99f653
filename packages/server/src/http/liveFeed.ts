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
type Group = Set<Readable>;

interface Message {
  readonly key: string;
  readonly bytes: Buffer;
}

export class LiveFeed {
  readonly #service: Service;
  /** By metric and key; undefined for those who follow all metrics, or all keys. Keys are many: none looks at all groups. */
  readonly #groups = new Map<string | undefined, Map<string | undefined, Group>>();
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
    const byKey = this.#groups.get(metric) ?? new Map<string | undefined, Group>();
    this.#groups.set(metric, byKey);
    const group = byKey.get(key) ?? new Set();
    byKey.set(key, group.add(stream));
    this.readers++;
    stream.once("close", () => {
      this.readers--;
      group.delete(stream);
      if (group.size === 0 && byKey.get(key) === group) byKey.delete(key);
    });
  }

  /** Sends the same bytes to all readers. */
  send(bytes: Buffer): void {
    for (const group of this.#all()) sendTo(group, bytes);
  }

  /** Ends all streams. */
  end(): void {
    this.#stopListening();
    for (const group of this.#all()) for (const stream of group) stream.push(null);
    this.#groups.clear();
  }

  *#all(): Generator<Group> {
    for (const byKey of this.#groups.values()) yield* byKey.values();
  }

  /** The groups that follow a key of a metric. */
  #followers(metric: string, key: string): Group[] {
    const own = this.#groups.get(metric);
    return [this.#groups.get(undefined)?.get(undefined), own?.get(undefined), own?.get(key)].filter(
      (group) => group !== undefined,
    );
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
    const { type, keys, hasKeys } = this.#service.metric(metric)!.config;
    const asked = type === "histogram" ? { quantiles: LIVE_QUANTILES } : {};
    let messages: Message[] = [];
    for (const key of keys) {
      if (this.#followers(metric, key).length === 0) continue;
      const answer = await this.#service.ask(metric, key, { from, to }, asked);
      const text = JSON.stringify({ metric, ...(hasKeys ? { key } : {}), ...answer });
      messages.push({ key, bytes: Buffer.from(`data: ${text}\n\n`) });
      if (messages.length < TOGETHER) continue;
      this.#deliver(metric, messages);
      messages = [];
    }
    this.#deliver(metric, messages);
  }

  #deliver(metric: string, messages: readonly Message[]): void {
    const wanted = new Map<Group, Buffer[]>();
    for (const { key, bytes } of messages)
      for (const group of this.#followers(metric, key)) {
        const before = wanted.get(group);
        if (before === undefined) wanted.set(group, [bytes]);
        else before.push(bytes);
      }
    for (const [group, parts] of wanted) sendTo(group, Buffer.concat(parts));
  }
}

function sendTo(group: ReadonlySet<Readable>, bytes: Buffer): void {
  for (const stream of group)
    if (stream.readableLength > MOST_BUFFERED) stream.destroy();
    else stream.push(bytes);
}
