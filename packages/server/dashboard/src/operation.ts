/** For those who run the service: whether it takes events, its clock, when numbers come, and how limits fit. */
import { byId, h } from "../../../../site/src/look/dom.js";
import { duration } from "../../../../site/src/look/format.js";
import * as api from "./api.js";
import { head, row } from "./cards.js";
import { boundWords, type ZoneTimes } from "./words.js";

/** Milliseconds that two clocks may differ by without a word: a request takes its time. */
const CLOSE = 2000;

export async function showOperation(times: ZoneTimes): Promise<void> {
  const [trouble, about] = await Promise.all([api.trouble(), api.metrics()]);
  byId("ready").textContent = trouble === undefined ? "Events are taken and stored." : trouble;
  const apart = Math.abs(about.now - Date.now());
  byId("clock").textContent =
    `It is ${times.place(about.now)} for the service (${times.zone})${apart < CLOSE ? ", and the same for this browser" : `, ${duration(apart / 1000)} ${about.now > Date.now() ? "after" : "before"} the time of this browser`}.`;
  const rows = await Promise.all(about.metrics.map((metric) => intakeRow(metric, about.now, times)));
  byId("intake").replaceChildren(
    head("metric", "a number every", "next number", "people above the limit", "values above the bound"),
    h("tbody", {}, ...rows),
  );
}

async function intakeRow(metric: api.MetricInfo, now: number, times: ZoneTimes): Promise<HTMLElement> {
  const { name, every, next, keys } = metric;
  if (every === null) return row(name, "1d", "after the day", "one report each", "see its numbers");
  const answer = await api.askLast({ metric: name, key: keys[0] });
  const { limited, bounded } = boundWords(answer, metric);
  return row(name, every, next === null ? "–" : times.when(next, now), limited, bounded);
}
