/** `GET /v1/query`: published numbers over a range of time, with intervals, as JSON or CSV. */
import type { FastifyInstance } from "fastify";
import type { HistogramQuery } from "brume";
import type { MetricStream } from "../engine/stream.js";
import type { LiveMetric } from "../engine/state.js";
import type { Service } from "../service.js";
import { BadRequest, NotFound } from "./errors.js";
import { errorAnswers } from "./events.js";

export interface QueryText {
  readonly metric: string;
  readonly key?: string;
  readonly from?: string;
  readonly to?: string;
  readonly every?: string;
  readonly quantiles?: string;
  readonly shares?: string;
  readonly confidence?: string;
  readonly format?: "json" | "csv";
}

const text = (description: string, maxLength = 64) => ({ type: "string", maxLength, description }) as const;

const TIME = "ISO text with a time zone, milliseconds since 1970, or a time before now such as -1h.";
export const QUERY = {
  type: "object",
  required: ["metric"],
  additionalProperties: false,
  properties: {
    metric: text("Which metric."),
    key: text("Which of its keys; needed where the metric has keys.", 128),
    from: text(`${TIME} Default -1h.`),
    to: text(`${TIME} Default: now.`),
    every: text("Answers for each step of this length, such as 5m, in place of one for the whole range."),
    quantiles: text("Of a histogram: shares such as 0.5,0.95,0.99.", 256),
    shares: text("Of a histogram: values of which to tell the share of events below them.", 256),
    confidence: text("The probability that an interval holds the answer. Default 0.95."),
    format: { type: "string", enum: ["json", "csv"], description: "Default json." },
  },
} as const;

const MOST_STEPS = 2000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN = /^(\d{1,9})(ms|s|m|h|d)$/;

export function queryRoutes(app: FastifyInstance, { engine }: Service): void {
  app.get<{ Querystring: QueryText }>(
    "/v1/query",
    {
      config: { access: "read" },
      schema: {
        summary: "Ask for published numbers",
        description:
          "Every number comes with an interval: `low` and `high` hold the true one with probability `confidence`. Numbers may be negative: that is noise.",
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
      const metric = engine.metric(query.metric);
      if (metric === undefined) throw new NotFound("metric: expected one that /v1/metrics lists");
      if (metric.local !== undefined) return reply.send(await localAnswer(metric, query));
      const stream = streamOf(engine.stream(metric, query.key ?? ""), metric, query.key);
      const [from, to] = rangeOf(query, engine.time);
      const asked = askedOf(query, metric.metric.type);
      const steps = stepsOf(query.every, from, to);
      const { name, type, unit, hasKeys } = metric.metric;
      const answers = steps.map(([start, end]) => stream.between(start, end, asked));
      if (query.format === "csv") return reply.type("text/csv; charset=utf-8").send(csvOf(answers));
      const about = { metric: name, type, unit, ...(hasKeys ? { key: query.key } : {}) };
      return reply.send(
        query.every === undefined ? { ...about, ...answers[0] } : { ...about, every: query.every, answers },
      );
    },
  );
}

/** Of all reports since the beginning: they carry no time. */
async function localAnswer({ metric, local }: LiveMetric, query: QueryText): Promise<object> {
  for (const field of ["key", "from", "to", "every", "shares"] as const)
    if (query[field] !== undefined)
      throw new BadRequest(`${field}: expected none, since reports of devices carry no key and no time`);
  const { quantiles = [], confidence = 0.95 } = askedOf({ ...query, metric: metric.name }, "histogram");
  const { name, type, unit } = metric;
  return { metric: name, type, unit, ...(await local!.estimate(quantiles, confidence)) };
}

/** Keys are public, so a question about another one is told. */
function streamOf(
  stream: MetricStream | undefined,
  { metric }: LiveMetric,
  key: string | undefined,
): MetricStream {
  if (metric.hasKeys && key === undefined)
    throw new BadRequest("key: expected one of the metric's keys; /v1/metrics lists them");
  if (stream === undefined)
    throw new NotFound("key: expected one of the metric's keys; /v1/metrics lists them");
  return stream;
}

/** Milliseconds of [from, to). */
export function rangeOf({ from = "-1h", to }: Pick<QueryText, "from" | "to">, now: number): [number, number] {
  const range: [number, number] = [timeOf("from", from, now), to === undefined ? now : timeOf("to", to, now)];
  if (range[1] < range[0]) throw new BadRequest("to: expected a time after from; turn them around");
  return range;
}

function timeOf(name: string, value: string, now: number): number {
  const span = value === "now" ? 0 : value.startsWith("-") ? spanOf(value.slice(1)) : undefined;
  const time = span !== undefined ? now - span : /^\d{1,16}$/.test(value) ? Number(value) : isoOf(value);
  if (!(Math.abs(time) <= 8.64e15)) throw new BadRequest(`${name}: expected ${TIME.slice(0, -1)}`);
  return time;
}

const isoOf = (value: string): number =>
  /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/.test(value)
    ? Date.parse(value)
    : NaN;

function spanOf(value: string): number | undefined {
  const [, digits, unit] = SPAN.exec(value) ?? [];
  return unit === undefined ? undefined : Number(digits) * UNITS[unit]!;
}

function stepsOf(every: string | undefined, from: number, to: number): [number, number][] {
  if (every === undefined) return [[from, to]];
  const step = spanOf(every);
  if (step === undefined || step < 1)
    throw new BadRequest("every: expected a duration such as 30s, 5m, 1h or 1d");
  const first = Math.floor(from / step) * step;
  const count = Math.ceil((to - first) / step);
  if (count > MOST_STEPS)
    throw new BadRequest(
      `every: expected at most ${MOST_STEPS} steps in the range, got ${count}; take longer ones`,
    );
  return Array.from({ length: count }, (_, i) => [
    Math.max(from, first + i * step),
    Math.min(to, first + (i + 1) * step),
  ]);
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

/** Numbers alone, so nothing needs quotes. */
function csvOf(answers: readonly object[]): string {
  const rows = answers.map((answer) => flat("", answer));
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? ""))]
    .map((row) => `${row.join(",")}\n`)
    .join("");
}

function flat(prefix: string, value: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]: [string, unknown]) =>
      typeof part === "object" && part !== null
        ? Object.entries(flat(`${prefix}${name}.`, part))
        : [[`${prefix}${name}`, String(part)] as const],
    ),
  );
}
