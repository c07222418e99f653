/**
 * Submissions of a commit: what callers gave since the last one. Before the row is stored it is decided of every event
 * whether it counts, is held out, limited or dropped; the row says so, and a replay decides nothing again.
 */
import type { EventMetric, ReadEvent } from "../../events/eventMetric.js";
import type { Dropped } from "../../events/days/periodClock.js";
import type { Catalogue } from "../journal/catalogue.js";
import type { DiscoveredKeys } from "./discoveredKeys.js";
import { Kind, NO_KEY, type Past, EventRowWriter } from "./eventRow.js";
import type { HubMetric } from "./hubMetric.js";
import { type HashedRequest, RequestConflict, type RequestId, type RequestIds } from "./requestIds.js";

/** An event that was read. */
export interface Entry {
  readonly metric: string;
  readonly key: string;
  readonly event: ReadEvent | Dropped;
}

/** Events and reports that are stored together or not at all. */
export interface Submission {
  readonly entries: readonly Entry[];
  readonly reports: readonly { readonly section: string; readonly report: Uint8Array }[];
  readonly request: RequestId | undefined;
  readonly past?: Past;
}

/** Where the state of a hub is that decides of events and requests. */
interface Deciders {
  readonly metrics: ReadonlyMap<string, HubMetric>;
  readonly requests: RequestIds;
  readonly catalogue: Catalogue;
}

/** An upper bound of the records of a row, by the sizes of submissions alone. */
export const countOfRecords = (submissions: readonly Submission[]): number =>
  submissions.reduce((sum, { entries, reports }) => sum + entries.length + reports.length + 2, 0);

/** The name of a key of any metric: of a new one, in the row that gives it a number. */
export const keyId = (metric: number, key: string): string => `${metric}/${key}`;

/**
 * Decides of submissions and writes the records of their row. Counts people as it decides: call it once for each row.
 * @param newKeys ids of keys to which the row gives a number, or a place in the running day
 */
export function writeSubmissions(
  submissions: readonly Submission[],
  newKeys: ReadonlySet<string>,
  time: number,
  { metrics, requests, catalogue }: Deciders,
): { readonly writer: EventRowWriter; readonly refused: readonly (Error | undefined)[] } {
  const writer = new EventRowWriter(countOfRecords(submissions), countOfVoters(submissions, metrics));
  const seen = new Map<string, string>();
  const numbers = new Map<string, number>();
  const refused = submissions.map(({ entries, reports, request, past }) => {
    if (request !== undefined) {
      const hashed = requests.hash(request);
      try {
        if (requests.has(hashed, time) || isRepeated(seen, hashed)) return undefined;
      } catch (error) {
        return error as Error;
      }
      writer.request(hashed.id, hashed.body);
    }
    for (const { metric: name, key, event } of entries) {
      const hub = metrics.get(name)!;
      if (hub.discovered !== undefined) writeVoter(writer, hub, hub.discovered, key, event);
      else writeEvent(writer, hub, key, event, newKeys, numbers);
    }
    for (const { section, report } of reports) writer.report(catalogue.sectionNumber(section), report);
    if (past !== undefined) writer.past(past);
    return undefined;
  });
  return { writer, refused };
}

/** @param numbers of new keys, in the order in which the row takes them */
function writeEvent(
  writer: EventRowWriter,
  hub: HubMetric,
  key: string,
  event: Entry["event"],
  newKeys: ReadonlySet<string>,
  numbers: Map<string, number>,
): void {
  const { metric, record } = hub;
  let number = hub.numberOf(key);
  const id = keyId(record.number, key);
  if (newKeys.has(id) && number === undefined) {
    if (!numbers.has(id)) numbers.set(id, record.keys.length + countOf(numbers, record.number));
    number = numbers.get(id)!;
  }
  if (typeof event === "string") {
    metric.countDropped(event);
    return writer.event(record.number, number ?? NO_KEY, Kind.dropped, 0, undefined);
  }
  const counts = number !== undefined && (newKeys.has(id) || hub.takes(number, event.day));
  if (!counts) return writer.event(record.number, number ?? NO_KEY, Kind.dropped, 0, event);
  const { kind, granted } = admitted(metric, event);
  writer.event(record.number, number!, kind, granted, event);
}

/** Writes an event of a metric whose keys votes make public: it counts under its key, or under the one for all others. */
function writeVoter(
  writer: EventRowWriter,
  { metric, record }: HubMetric,
  discovered: DiscoveredKeys,
  key: string,
  event: Entry["event"],
): void {
  if (typeof event === "string") {
    metric.countDropped(event);
    return writer.voter(record.number, NO_KEY, Kind.dropped, 0, undefined, undefined);
  }
  const number = discovered.route(key, event.day);
  const votes = event.start >= metric.next && discovered.vote(key, event); // before the limit, which loses no votes
  const { kind, granted } = admitted(metric, { ...event, key: record.keys[number]!.name });
  writer.voter(record.number, number, kind, granted, event, votes ? key : undefined);
}

/** Counts an event towards its person's limit; says what becomes of it. */
function admitted(
  metric: EventMetric,
  event: ReadEvent,
): { readonly kind: number; readonly granted: number } {
  const late = event.start < metric.next;
  const granted = metric.admit(event);
  if (late) return { kind: Kind.dropped, granted: granted ?? 0 };
  if (granted === undefined) return { kind: Kind.limited, granted: 0 };
  return { kind: Number.isNaN(metric.units) ? Kind.held : Kind.counted, granted };
}

function countOfVoters(submissions: readonly Submission[], metrics: Deciders["metrics"]): number {
  let count = 0;
  for (const { entries } of submissions)
    for (const { metric } of entries) if (metrics.get(metric)!.discovered !== undefined) count++;
  return count;
}

/** Whether a submission before it in the row is the same request. */
function isRepeated(seen: Map<string, string>, hashed: HashedRequest): boolean {
  const [id, body] = [hashed.id.join(), hashed.body.join()];
  const known = seen.get(id);
  seen.set(id, known ?? body);
  if (known !== undefined && known !== body) throw new RequestConflict();
  return known !== undefined;
}

const countOf = (numbers: ReadonlyMap<string, number>, metric: number): number =>
  [...numbers.keys()].filter((id) => id.startsWith(`${metric}/`)).length;
