/** A hub's catalogue of itself: its secret, its zone, and the metrics, keys and sections that it ever had. */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import type { KeyRecord, MetricRecord } from "./hubKeys.js";
import type { Section } from "../journal/sections.js";

/** Metric, number of a key, and times at which votes made it public. */
type Found = [string, number, [number, number][]];

interface Known {
  record: MetricRecord;
  /** Whether the newest opening had it. */
  listed: boolean;
}

export class Catalogue implements Section {
  readonly name = "catalogue";
  readonly leads = true;
  /** 8 words, from which all noise follows. */
  root: Uint32Array;
  zone: string;
  /** Whether the catalogue was changed and is not stored. */
  urgent = false;
  readonly #metrics = new Map<string, Known>();
  #sections: string[] = [];

  constructor(root: Uint32Array, zone: string) {
    this.root = root;
    this.zone = zone;
  }

  knows(metric: string): boolean {
    return this.#metrics.has(metric);
  }

  /** The record of a metric that continues: it was listed the last time, with the same settings. */
  listed(metric: string, parameters: Parameters): MetricRecord | undefined {
    const known = this.#metrics.get(metric);
    if (known?.listed !== true) return undefined;
    return textOf(known.record.parameters) === textOf(parameters) ? known.record : undefined;
  }

  /** Says which metrics are listed; returns whether any is gone. */
  keepOnly(metrics: ReadonlySet<string>): boolean {
    let changed = false;
    for (const [name, known] of this.#metrics) {
      if (metrics.has(name) || !known.listed) continue;
      known.listed = false;
      changed = true;
    }
    return changed;
  }

  /** The generation that a metric would begin with. */
  nextGeneration(name: string): number {
    return (this.#metrics.get(name)?.record.generation ?? 0) + 1;
  }

  /** Begins a metric, or a new generation of it. @param row with which it begins */
  begin(
    name: string,
    parameters: Parameters,
    began: number,
    row: number,
    keys: readonly string[],
  ): MetricRecord {
    const record: MetricRecord = {
      name,
      number: this.#metrics.get(name)?.record.number ?? this.#metrics.size,
      generation: this.nextGeneration(name),
      parameters,
      began,
      row,
      keys: keys.map((key) => ({ name: key, since: began, until: -Infinity })),
      counts: [{ row, keys: keys.length }],
    };
    this.#metrics.set(name, { record, listed: true });
    return record;
  }

  /** Numbers sections that take reports; returns whether any is new. */
  addSections(names: readonly string[]): boolean {
    const added = names.filter((name) => !this.#sections.includes(name));
    this.#sections.push(...added);
    return added.length > 0;
  }

  sectionNumber(name: string): number {
    return this.#sections.indexOf(name);
  }

  sectionName(number: number): string | undefined {
    return this.#sections[number];
  }

  stored(): void {
    this.urgent = false;
  }

  save(writer: Encoder): void {
    writer.words(this.root);
    writer.text(this.zone);
    writer.count(this.#metrics.size);
    for (const { record, listed } of this.#metrics.values()) {
      const { name, number, generation, parameters, began, keys } = record;
      writer.text(name);
      writer.count(number);
      writer.count(generation);
      writer.count(listed ? 1 : 0);
      writer.text(JSON.stringify(parameters));
      writer.double(began);
      writer.count(keys.length);
      for (const key of keys) {
        writer.text(key.name);
        writer.double(key.since);
        writer.double(key.until);
      }
    }
    writer.text(JSON.stringify(this.#sections));
    writer.text(JSON.stringify(this.#found()));
    for (const { record } of this.#metrics.values()) {
      writer.count(record.row);
      writer.count(record.counts.length);
      for (const { row, keys } of record.counts) for (const number of [row, keys]) writer.count(number);
    }
  }

  /** Metric, key and times of the keys that votes made public; 0 stands for a time that has no end. */
  #found(): Found[] {
    return [...this.#metrics.values()].flatMap(({ record }) =>
      record.keys.flatMap(({ spans }, number): Found[] =>
        spans === undefined
          ? []
          : [[record.name, number, spans.map(([from, to]) => [from, to === Infinity ? 0 : to])]],
      ),
    );
  }

  /** Refuses another zone than the hub began with. */
  checkZone(zone: string): void {
    if (this.zone === zone) return;
    throw new RangeError(
      `zone: expected ${JSON.stringify(this.zone)}, which the hub began with, got ${JSON.stringify(zone)}; give the zone back, or another name to the hub`,
    );
  }

  load(reader: Decoder): void {
    this.root = reader.words(8);
    this.zone = reader.text();
    for (let left = reader.count(); left > 0; left--) {
      const name = reader.text();
      const [number, generation, listed] = [reader.count(), reader.count(), reader.count() === 1];
      const parameters = JSON.parse(reader.text()) as Parameters;
      const began = reader.double();
      const keys = Array.from({ length: reader.count() }, (): KeyRecord => ({
        name: reader.text(),
        since: reader.double(),
        until: reader.double(),
      }));
      this.#metrics.set(name, {
        record: { name, number, generation, parameters, began, row: 0, keys, counts: [] },
        listed,
      });
    }
    this.#sections = JSON.parse(reader.text()) as string[];
    if (reader.rest.length === 0) return;
    for (const [name, number, spans] of JSON.parse(reader.text()) as Found[])
      this.#metrics.get(name)!.record.keys[number]!.spans = spans.map(([from, to]) => [from, to || Infinity]);
    if (reader.rest.length === 0) return; // stored before rows were written down
    for (const known of this.#metrics.values()) {
      const row = reader.count();
      const counts = Array.from({ length: reader.count() }, () => ({
        row: reader.count(),
        keys: reader.count(),
      }));
      known.record = { ...known.record, row, counts };
    }
  }
}

const textOf = (parameters: Parameters): string =>
  JSON.stringify(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1)));
