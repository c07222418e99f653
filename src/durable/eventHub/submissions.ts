/**
 * Submissions of a commit: what callers gave since the last one. Before the row is stored it is decided of every event
 * whether it counts, is held out, limited or dropped; the row says so, and a replay decides nothing again.
 */
import { checkText } from "../../core/checks.js";
import type { EventInfo } from "../../events/eventInfo.js";
import type { Admission, ReadEvent } from "../../events/intake.js";
import type { Dropped } from "../../events/days/periodClock.js";
import type { Catalogue } from "./catalogue.js";
import type { HubDiscovery } from "./hubDiscovery.js";
import { Kind, NO_KEY, type Past, EventRowWriter } from "./eventRow.js";
import type { HubMetric } from "./hubMetric.js";
import type { HubState } from "./hubState.js";
import { type HashedRequest, RequestConflict, type RequestId, type RequestIds } from "./requestIds.js";

/** An event that was read. */
export interface SubmittedEvent {
  readonly metric: string;
  readonly key: string;
  readonly event: ReadEvent | Dropped;
}

/** Events and reports that are stored together or not at all. */
export interface Submission {
  readonly entries: readonly SubmittedEvent[];
  readonly reports: readonly { readonly section: string; readonly report: Uint8Array }[];
  readonly request: RequestId | undefined;
  readonly past?: Past;
}

/** An event of `addMany`. */
export interface KeyedEvent extends EventInfo {
  readonly key: string;
  /** Left out where events are only counted. */
  readonly value?: number;
}

/** An event of `addAll`. */
export interface MetricEvent extends KeyedEvent {
  readonly metric: string;
}

/** Reports for a section of the hub, 8 bytes each. */
export interface SectionReports {
  readonly section: string;
  readonly reports: readonly Uint8Array[];
}

/** Reads an event of a caller; throws if it is invalid. */
export function entryOf(
  state: HubState,
  metric: string,
  key: string,
  value: number | undefined,
  event: EventInfo | undefined,
): SubmittedEvent {
  const of = state.metric(metric);
  return { metric, key, event: of.events.intake.read(checkText("key", key), value, event) };
}

/** Reads events of a caller; throws if any is invalid. */
export const entriesOf = <E extends KeyedEvent>(
  state: HubState,
  events: readonly E[],
  metricOf: (event: E) => string,
): SubmittedEvent[] =>
  Array.from(events, (event) => {
    if (typeof event !== "object" || (event as unknown) === null)
      throw new TypeError("event: expected an object with a key");
    const value = Object.hasOwn(event, "value") ? event.value : undefined;
    const key = checkText("key", Object.hasOwn(event, "key") && event.key);
    return entryOf(state, metricOf(event), key, value, event);
  });

/** Copies the request of a caller; throws if it is invalid. */
export const requestOf = (request: RequestId | undefined): RequestId | undefined =>
  request === undefined
    ? undefined
    : { id: checkText("request.id", request.id), body: checkText("request.body", request.body) };

/** Copies reports of a caller; throws if one is invalid. */
export function reportsOf(state: HubState, { section, reports }: SectionReports): Submission["reports"] {
  state.checkSection(section);
  for (const report of reports)
    if (!(report instanceof Uint8Array) || report.length !== 8)
      throw new TypeError("reports: expected arrays of 8 bytes; nothing was taken");
  return reports.map((report) => ({ section, report: report.slice() }));
}

/** Parts of a hub's state by which a submission is decided. */
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

/** Kinds in rows, by decision. */
const KINDS = {
  counted: Kind.counted,
  held: Kind.held,
  limited: Kind.limited,
  late: Kind.dropped,
} as const satisfies Record<Admission["kind"], number>;

/** @param numbers of new keys, in the order in which the row takes them */
function writeEvent(
  writer: EventRowWriter,
  hub: HubMetric,
  key: string,
  event: SubmittedEvent["event"],
  newKeys: ReadonlySet<string>,
  numbers: Map<string, number>,
): void {
  const { events: metric, record } = hub;
  let number = hub.keys.numberOf(key);
  const id = keyId(record.number, key);
  if (newKeys.has(id) && number === undefined) {
    if (!numbers.has(id)) numbers.set(id, record.keys.length + countOf(numbers, record.number));
    number = numbers.get(id)!;
  }
  if (typeof event === "string") {
    metric.intake.countDropped(event);
    return writer.event(record.number, number ?? NO_KEY, Kind.dropped, 0, undefined);
  }
  const counts = number !== undefined && (newKeys.has(id) || hub.takes(number, event.day));
  if (!counts) return writer.event(record.number, number ?? NO_KEY, Kind.dropped, 0, event);
  const { kind, granted } = metric.intake.admit(event);
  writer.event(record.number, number!, KINDS[kind], granted, event);
}

/** Writes an event of a metric whose keys votes make public: it counts under its key, or under the one for all others. */
function writeVoter(
  writer: EventRowWriter,
  { events: metric, record }: HubMetric,
  discovered: HubDiscovery,
  key: string,
  event: SubmittedEvent["event"],
): void {
  if (typeof event === "string") {
    metric.intake.countDropped(event);
    return writer.voter(record.number, NO_KEY, Kind.dropped, 0, undefined, undefined);
  }
  const number = discovered.route(key, event.day);
  const votes = event.start >= metric.next && discovered.vote(key, event); // before the limit, which loses no votes
  const { kind, granted } = metric.intake.admit({ ...event, key: record.keys[number]!.name });
  writer.voter(record.number, number, KINDS[kind], granted, event, votes ? key : undefined);
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
