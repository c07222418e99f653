/** `GET /v1/query`: published numbers over a range of time, with intervals, as JSON or CSV. */
import type { FastifyInstance } from "fastify";
import type { HistogramQuery } from "brume";
import { DAY, durationText } from "brume/node";
import { durationOf } from "../config/duration.js";
import type { ResolvedMetric } from "../config/metrics.js";
import type { Question, Service } from "../service.js";
import type { ServedMetric } from "../servedMetrics.js";
import { Abandoned } from "../workTurns.js";
import { ZoneDays } from "../zoneDays.js";
import { answersOf, bucketsOf, checkCost, type Computed } from "./computed.js";
import { BadRequest, NotFound } from "./errors.js";
import { errorAnswers } from "./events.js";

export interface QueryText {
  readonly metric: string;
  readonly key?: string;
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly every?: string;
  readonly quantiles?: string;
  readonly shares?: string;
  readonly confidence?: string;
  readonly format?: "json" | "csv";
}

const text = (description: string, maxLength = 64) => ({ type: "string", maxLength, description }) as const;

const TIME =
  "ISO text with a time zone, a date of the service's zone, milliseconds since 1970, or a time before now such as -1h.";
export const QUERY = {
  type: "object",
  required: ["metric"],
  additionalProperties: false,
  properties: {
    metric: text("Which metric."),
    key: text("Which of its keys; needed where the metric has keys.", 128),
    last: text(
      "The newest range of this length that ends with a published period, such as 1h. Default, without from, to and every: the newest published period.",
    ),
    from: text(`${TIME} Default -1h; with every, -1d.`),
    to: text(`${TIME} Default: now.`),
    every: text(
      "One answer per calendar period: 1h, 1d, 1w (from Monday), 1mo, another multiple of the metric's every that divides a day, or auto for the finest that is not mostly noise.",
    ),
    quantiles: text("Of a histogram: shares such as 0.5,0.95,0.99.", 256),
    shares: text("Of a histogram: values of which to tell the share of events below them.", 256),
    confidence: text("The probability that an interval holds the answer. Default 0.95."),
    format: { type: "string", enum: ["json", "csv"], description: "Default json." },
  },
} as const;

export function queryRoutes(app: FastifyInstance, service: Service): void {
  const { turns } = service;
  app.get<{ Querystring: QueryText }>(
    "/v1/query",
    {
      config: { access: "read" },
      schema: {
        summary: "Ask for published numbers",
        description:
          "Every number is measured, and comes with an interval: `low` and `high` hold the true one with probability `confidence`, whatever the data. `value` is null where nothing was measured; `next` says when there will be more. Numbers may be negative: that is noise.",
        security: [{}, { bearer: [] }],
        querystring: QUERY,
        response: {
          200: {
            description: "One answer, or a list of them.",
            content: {
              "application/json": { schema: { type: "object", additionalProperties: true } },
              "text/csv": { schema: { type: "string" } },
            },
          },
          ...errorAnswers(400, 401, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const served = service.metric(query.metric);
      if (served === undefined) throw new NotFound("metric: expected one that /v1/metrics lists");
      const csv = query.format === "csv";
      void reply.type(csv ? "text/csv; charset=utf-8" : "application/json; charset=utf-8");
      const { name, type, unit, hasKeys, options } = served.config;
      const about = { metric: name, type, unit };
      if (options === undefined) {
        const answer = await localAnswer(served, query, service, () => turns.next());
        const answers = "answers" in answer ? (answer.answers as object[]) : [answer];
        return csv ? csvOf(answers) : joined({ ...about, zone: service.zone }, JSON.stringify(answer));
      }
      const key = keyOf(served.config, query.key);
      const question = questionOf(query, served.config, service);
      const asked = askedOf(query, type);
      checkCost(question, served.config, asked);
      const isWanted = (): void => {
        if (reply.raw.destroyed) throw new Abandoned();
      };
      const computed = await turns.read(() =>
        answersOf(asked, bucketsOf(served.config), isWanted, (part) =>
          service.ask(name, key, question, part),
        ),
      );
      const { zone } = service;
      return csv
        ? csvOf(computed.answers)
        : serialise({ ...about, ...(hasKeys ? { key } : {}), zone }, computed, () => turns.next());
    },
  );
}

/** Answers that are put into text before others get their turn. */
const TOGETHER = 64;

async function serialise(
  about: object,
  { series, answers }: Computed,
  turn: () => Promise<void>,
): Promise<string> {
  if (series === undefined) return joined(about, JSON.stringify(answers[0]));
  const texts: string[] = [];
  for (let at = 0; at < answers.length; at += TOGETHER) {
    if (at > 0) await turn();
    texts.push(...answers.slice(at, at + TOGETHER).map((answer) => JSON.stringify(answer)));
  }
  return joined({ ...about, ...series }, `{"answers":[${texts.join(",")}]}`);
}

/** Two objects, the second one as JSON already, as the JSON of one. */
const joined = (first: object, second: string): string =>
  `${JSON.stringify(first).slice(0, -1)},${second.slice(1)}`;

/** Answers of a local metric are about days; all of them by default. */
async function localAnswer(
  { local, config: metric }: ServedMetric,
  query: QueryText,
  { now, zone }: Clock,
  turn: () => Promise<void>,
): Promise<object> {
  for (const field of ["key", "shares"] as const)
    if (query[field] !== undefined)
      throw new BadRequest(`${field}: expected none, since reports of devices carry no key; remove it`);
  const { quantiles = [], confidence = 0.95 } = askedOf(query, "histogram");
  const { last, from, to, every } = query;
  if (quantiles.length > 0 && every !== undefined)
    throw new BadRequest("quantiles: expected none with every; ask for one range at a time");
  const isAll = [last, from, to, every].every((field) => field === undefined);
  const question = isAll
    ? { from: 0, to: now }
    : questionOf(
        every === "auto" ? { ...query, every: "1d" } : query,
        { every: DAY, over: undefined },
        { now, zone },
      );
  checkCost(question, metric, {});
  return local!.estimate(question, quantiles, confidence, turn);
}

/** Keys are public, so a question about another one is told. */
function keyOf({ hasKeys, keys }: ResolvedMetric, key: string | undefined): string {
  if (hasKeys && key === undefined)
    throw new BadRequest("key: expected one of the metric's keys; /v1/metrics lists them");
  if (!keys.includes(key ?? ""))
    throw new NotFound("key: expected one of the metric's keys; /v1/metrics lists them");
  return key ?? "";
}

/** A hundred years. */
const LONGEST = 36_525 * DAY;
/** Times beyond it, or a period before it, have no day of a calendar. */
const FARTHEST_DAY = 1.4e14;

type Periods = Pick<ResolvedMetric, "every" | "over">;

/** Tells the time now and the zone of dates, for the times of a question. */
type Clock = Pick<Service, "now" | "zone">;

function questionOf(query: QueryText, periods: Periods, clock: Clock): Question {
  const { last, from, to, every: period } = query;
  const others = [from, to, period].some((field) => field !== undefined);
  if (last !== undefined && others)
    throw new BadRequest("last: expected none beside from, to and every; give one or the others");
  if (!others) return { last: last === undefined ? (periods.over ?? periods.every) : lastOf(last, periods) };
  const range = rangeOf(from ?? (period === undefined ? "-1h" : "-1d"), to, clock);
  return period === undefined ? range : { ...range, every: periodOf(period, periods) };
}

function lastOf(last: string, { every, over }: Periods): number | string {
  if (over !== undefined && over !== "1d") {
    if (last === over) return over;
    throw new BadRequest(`last: expected ${over}, in which people are counted once`);
  }
  const length = durationOf(last);
  if (length === undefined || length < 1 || length > LONGEST)
    throw new BadRequest("last: expected a duration such as 15m, 1h or 7d");
  if (length % every !== 0)
    throw new BadRequest(
      `last: expected a multiple of ${durationText(every)}, since the metric publishes one number in that time; take a longer one`,
    );
  return length;
}

function periodOf(period: string, { every, over }: Periods): string {
  if (over !== undefined && over !== "1d" && period !== over && period !== "auto")
    throw new BadRequest(`every: expected ${over}, in which people are counted once, or auto`);
  if (["1w", "1mo", "auto"].includes(period)) return period;
  const length = durationOf(period);
  if (length === undefined || length < 1 || length % every !== 0 || DAY % length !== 0)
    throw new BadRequest(
      `every: expected 1w, 1mo, auto, or a multiple of ${durationText(every)} that divides a day, such as 1h or 1d; take longer steps`,
    );
  return period;
}

/** Milliseconds of [from, to). */
function rangeOf(from: string, to: string | undefined, clock: Clock): { from: number; to: number } {
  const range = {
    from: timeOf("from", from, clock),
    to: to === undefined ? clock.now : timeOf("to", to, clock),
  };
  if (range.to < range.from) throw new BadRequest("to: expected a time after from; turn them around");
  return range;
}

function timeOf(name: string, value: string, { now, zone }: Clock): number {
  const span = value === "now" ? 0 : value.startsWith("-") ? durationOf(value.slice(1)) : undefined;
  const time =
    span !== undefined ? now - span : /^\d{1,16}$/.test(value) ? Number(value) : isoOf(value, zone);
  if (!(Math.abs(time) <= FARTHEST_DAY))
    throw new BadRequest(
      `${name}: expected ${TIME.slice(0, -1)}, between the years −2466 and 6406; check its unit`,
    );
  return time;
}

/** A date alone is the midnight that begins it: midnight of UTC would cut the days of other zones. */
function isoOf(value: string, zone: string): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return new ZoneDays(zone).startOf(value);
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(value)
    ? Date.parse(value)
    : NaN;
}

function askedOf({ quantiles, shares, confidence }: QueryText, type: string): HistogramQuery {
  if (type !== "histogram" && (quantiles !== undefined || shares !== undefined))
    throw new BadRequest("quantiles, shares: expected a histogram; other metrics have none");
  return {
    ...(quantiles === undefined ? {} : { quantiles: numbers("quantiles", quantiles, 0, 1) }),
    ...(shares === undefined
      ? {}
      : { shares: numbers("shares", shares, -Number.MAX_VALUE, Number.MAX_VALUE) }),
    ...(confidence === undefined ? {} : { confidence: numbers("confidence", confidence, 0, 1)[0]! }),
  };
}

/** Numbers with commas between, each strictly between two bounds. */
function numbers(name: string, list: string, low: number, high: number): number[] {
  const parts = list.split(",");
  const found = parts.map((part) => (part.trim() === "" ? NaN : Number(part)));
  const single = name === "confidence" && found.length !== 1;
  if (single || found.length > 32 || found.some((x) => !(x > low && x < high)))
    throw new BadRequest(
      `${name}: expected ${name === "confidence" ? "a number" : "up to 32 numbers with commas between, each"} between ${low === 0 ? "0 and 1" : "the smallest and largest double"}`,
    );
  return found;
}

type Row = Map<string, string>;

/** Answers as a table. A field that is an object or a list has a column for each of its parts. */
function csvOf(answers: readonly object[]): string {
  /** Names of fields that have parts in some row: where another row has nothing, the parts have the columns. */
  const whole = new Set<string>();
  const names = new Set<string>();
  const rows = answers.map((answer) => {
    const row: Row = new Map();
    flatten("", answer, row, whole);
    for (const name of row.keys()) names.add(name);
    return row;
  });
  const columns = [...names].filter((name) => !whole.has(name));
  // Numbers and true or false alone, so nothing needs quotes.
  const lines = rows.map((row) => columns.map((name) => row.get(name) ?? "").join(","));
  return [columns.join(","), ...lines, ""].join("\n");
}

function flatten(prefix: string, value: object, row: Row, whole: Set<string>): void {
  for (const [name, part] of Object.entries(value) as [string, object | number | string | boolean | null][])
    if (typeof part === "object" && part !== null) {
      whole.add(prefix + name);
      flatten(`${prefix}${name}.`, part, row, whole);
    } else row.set(prefix + name, part === null ? "" : String(part));
}
