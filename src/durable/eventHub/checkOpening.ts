/**
 * Compares the options of a hub with what its store has, before anything changes: a process whose clock, zone or budget is
 * refused must not end the one that has the hub.
 */
import { HOUR } from "../../events/days/calendar.js";
import { chooseCore } from "../../core/choose.js";
import { timeText } from "../../events/days/duration.js";
import { EventMetric } from "../../events/eventMetric.js";
import { eventParameters } from "../../events/eventSettings.js";
import { eventStatement } from "../../events/statement.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import { checkCharge } from "../budget/budget.js";
import { Catalogue } from "./catalogue.js";
import type { EventHubSettings, HubSection, MetricSettings } from "./eventHubOptions.js";
import { readRow } from "./eventRow.js";
import type { Journal } from "../journal/journal.js";
import type { Section } from "../journal/sections.js";

/** Parameters that a metric is bound to in the catalogue. */
export const parametersOf = ({ events, keys }: MetricSettings): Parameters => ({
  ...eventParameters(events),
  keys: events.discovery !== undefined ? "votes" : keys.list === undefined ? "rule" : "list",
});

/** The name under which an odometer knows a metric of a hub. */
export const releaseName = (hub: string, metric: string, generation: number): string =>
  `${hub}/${metric}${generation === 1 ? "" : `#${generation}`}`;

/** A section of the caller, as the journal has it. */
export const sectionOf = (own: HubSection): Section => ({
  name: `sections/${own.name}`,
  save: (writer) => writer.blob(own.save()),
  get urgent() {
    return own.urgent === true;
  },
  stored: () => own.stored?.(),
});

/** @param charged releases that were charged as they began, and whose beginning could not be stored */
export async function checkOpening(
  settings: EventHubSettings,
  journal: Journal,
  charged: ReadonlySet<string>,
): Promise<void> {
  for (const section of settings.sections)
    section.check?.((await journal.peek(sectionOf(section)))?.blob(), journal.newest !== undefined);
  checkClock(settings, journal.newest === undefined ? -Infinity : readRow(journal.newest).time);
  const { calendar, budget, metrics, name: hub, clock } = settings;
  const catalogue = new Catalogue(NO_SECRET, calendar.zone);
  const found = await journal.peek(catalogue);
  if (found !== undefined) catalogue.load(found);
  catalogue.checkZone(calendar.zone);
  if (budget === undefined) return;
  for (const [name, metric] of metrics) {
    const record = catalogue.listed(name, parametersOf(metric));
    const release = releaseName(hub, name, record?.generation ?? catalogue.nextGeneration(name));
    const keys = { people: NO_SECRET.slice(0, 4), own: NO_SECRET, release: () => NO_SECRET };
    const unused = new EventMetric(metric.events, chooseCore(metric.events.core), keys, clock(), []);
    await checkCharge(budget, release, eventStatement(unused), record === undefined && !charged.has(release));
  }
}

const NO_SECRET = new Uint32Array(8);

function checkClock({ clock, confirmClock }: EventHubSettings, newest: number): void {
  const now = clock();
  if (confirmClock || newest === -Infinity || now <= newest + HOUR) return;
  throw new RangeError(
    `clock: expected at most an hour after the newest stored time, got ${timeText(now)}; if the clock is right, open with confirmClock: true`,
  );
}
