/** The promise of a release of events to one person, in words and as a text file. */
import { h } from "../look/dom.js";
import { amount, percent } from "../look/format.js";
import type { LimitCost, LogSettings } from "../workers/logPlayer.js";
import { atMost, sureness } from "./chooser.js";

const MONTH = 30;
const YEAR = 365;
/** Events of a person and day in the example of a release that protects single events. */
const SEVERAL = 10;

export interface PersonPromise {
  readonly lead: string;
  /** ε of one person by time. */
  readonly rows: readonly (readonly [time: string, epsilon: number])[];
  readonly note: string;
}

export function promiseOf({ epsilon, limit, zone }: LogSettings, people: boolean): PersonPromise {
  const times = (name: string, perDay: number): PersonPromise["rows"] => [
    [`one day${name}`, perDay],
    [`a month, ${MONTH} days${name}`, MONTH * perDay],
    [`a year, ${YEAR} days${name}`, YEAR * perDay],
  ];
  if (limit !== undefined)
    return {
      lead: `Everything that one person does on one day (${zone}) is protected together, with ε = ${epsilon}. At most ${limit} of their events of that day count.`,
      rows: times("", epsilon),
      note: "Days share no noise, so the ε of the days on which a person was there add up, and no more. The figures for a month and a year are for somebody who was there every day. From about ε = 5 on, the promise says little by itself.",
    };
  return {
    lead: `One event is protected, with ε = ${epsilon}. ${people ? "A person is not" : "Nobody knows here whose events they are, so a person is not"}: the ε of all of their events add up, without a limit.`,
    rows: [["one event", epsilon], ...times(` with ${SEVERAL} events`, SEVERAL * epsilon)],
    note: people
      ? "To protect people, choose “a person’s day”."
      : "To protect people, open a file with a column that tells whose an event is.",
  };
}

export function promiseTable(rows: PersonPromise["rows"]): HTMLElement {
  const head = ["For one person", "ε in all", "Somebody can be this sure, at most"];
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
    h(
      "tbody",
      {},
      ...rows.map(([time, epsilon]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, time),
          h("td", {}, amount(epsilon)),
          h("td", {}, atMost(sureness(epsilon))),
        ),
      ),
    ),
  );
}

/** @param use hears which limit the visitor takes */
export function limitsTable(costs: readonly LimitCost[], use: (limit: number) => void): HTMLElement {
  const best = bestLimit(costs);
  const head = ["Limit", "Events not counted", "People over it", "Noise on a day, 95 %", ""];
  return h(
    "table",
    {},
    h(
      "thead",
      {},
      h("tr", {}, ...head.map((text) => (text === "" ? h("td") : h("th", { scope: "col" }, text)))),
    ),
    h(
      "tbody",
      {},
      ...costs.map(({ limit, dropped, people, reach }) => {
        const button = h("button", { type: "button", "aria-label": `Use a limit of ${limit}` }, "Use");
        button.addEventListener("click", () => use(limit));
        const secret = (share: number) => h("td", {}, h("span", { class: "secret" }, percent(share)));
        return h(
          "tr",
          { "data-limit": String(limit) },
          h(
            "th",
            { scope: "row" },
            String(limit),
            ...(limit === best ? [h("span", { class: "small quiet secret" }, " least error in all")] : []),
          ),
          secret(dropped),
          secret(people),
          h("td", {}, `±\u00a0${amount(Number(reach.toPrecision(3)))}`),
          h("td", {}, button),
        );
      }),
    ),
  );
}

/** The limit at which what a day loses and its noise are least together. */
export const bestLimit = (costs: readonly LimitCost[]): number | undefined =>
  costs.reduce<LimitCost | undefined>(
    (best, cost) => (best === undefined || cost.lost + cost.reach < best.lost + best.reach ? cost : best),
    undefined,
  )?.limit;

export function logStatement(settings: LogSettings, people: boolean, explanation: string): string {
  const { lead, rows, note } = promiseOf(settings, people);
  const lines = rows.map(
    ([time, epsilon]) => `- ${time}: ε = ${amount(epsilon)}, at most ${atMost(sureness(epsilon))} sure`,
  );
  return `Privacy statement

Promise
${lead}

For one person
Somebody who holds two guesses for equally likely is at most so sure of the right one after seeing everything. Without it: 50 %.
${lines.join("\n")}
${note}

What the library says about the release on the page
${explanation}
`;
}

/** The program that publishes with these settings. */
export function logCode({ epsilon, of, max, every, levels, zone, limit }: LogSettings): string {
  const options = [
    `epsilon: ${epsilon}`,
    `every: "${every}"`,
    `levels: ${JSON.stringify(levels)}`,
    `zone: "${zone}"`,
    ...(limit === undefined ? [] : [`perPerson: ${limit}`]),
    ...(of === "sum" ? [`max: ${max}`, `threshold: ${max}`] : []),
  ];
  const make = of === "sum" ? "privateStream" : "privateCounter";
  const event = limit === undefined ? "{ at: event.time }" : "{ at: event.time, person: event.person }";
  return `import { ${make} } from "brume";

const stream = ${make}({ ${options.join(", ")} });

// For every event, as it comes.
const take = (event) => stream.add(${of === "sum" ? `event.value, ${event}` : event});

// Now and then: the numbers of the periods that have ended since. Publish these.
const publish = () => stream.advance();

// The last ${every} with its interval, and any range of time.
const ask = () => stream.last("${every}");
const between = (from, to) => stream.between(from, to);
`;
}
