/**
 * The OpenAPI document says what this service takes: its own metrics, and which fields each needs. The routes check
 * the same by code, which is faster than a choice between schemas for every event.
 */
import type { SwaggerTransform } from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { isCounted, type ResolvedMetric } from "../config/metrics.js";
import { BATCH, EVENT, FARTHEST, ISO } from "./events.js";
import { NAMED, REPORTS } from "./local.js";
import { QUERY } from "./query.js";

const DURATION = "[0-9]{1,9}(ms|s|m|h|d)";
const TIME = `^(now|-${DURATION}|[0-9]{1,15})$`;
const SHARE = "0\\.[0-9]{0,6}[1-9]";

/** The routes' own schemas, with the metrics of the config in place of "a text". */
export function documentOf(known: Iterable<{ readonly config: ResolvedMetric }>): SwaggerTransform {
  const metrics = Array.from(known, ({ config }) => config);
  const own = new Map<string, object>([
    ["/v1/events", { body: eventsBody(metrics) }],
    ["/v1/query", { querystring: queryFields(metrics) }],
    ["/v1/local/:metric", { params: localFields(NAMED, metrics) }],
    ["/v1/local/:metric/script.js", { params: localFields(NAMED, metrics) }],
    ["/v1/reports", { querystring: localFields(REPORTS, metrics) }],
  ]);
  return ({ schema, url, ...rest }) => {
    const changed = [...own].find(([path]) => url.endsWith(path))?.[1];
    return { ...rest, schema: { ...schema, ...changed }, url };
  };
}

/** `GET /openapi.json`, serialised once. It names the metrics, so it needs the token to read. */
export function documentRoute(app: FastifyInstance, document: () => object): void {
  let text: string | undefined;
  app.get("/openapi.json", { config: { access: "read" }, schema: { hide: true } }, (_, reply) =>
    reply.type("application/json; charset=utf-8").send((text ??= JSON.stringify(document()))),
  );
}

function eventsBody(metrics: readonly ResolvedMetric[]): object {
  const forms = metrics.filter(({ local }) => local === undefined).map(eventForm);
  const batch = forms.length === 0 ? EVENT : { oneOf: forms };
  const { properties } = BATCH;
  return {
    required: true,
    content: {
      "application/json": {
        schema: { ...BATCH, properties: { events: { ...properties.events, items: batch } } },
      },
      "application/x-ndjson": { schema: { type: "string", description: "One event per line." } },
    },
  };
}

/** Events of one metric. */
function eventForm(metric: ResolvedMetric): object {
  const { metric: name, key, value, at, person } = EVENT.properties;
  const { description } = at;
  const times = [
    { type: "string", maxLength: at.maxLength, pattern: ISO },
    { type: "number", minimum: -FARTHEST, maximum: FARTHEST },
  ];
  const fields = {
    metric: { ...name, const: metric.name },
    ...(metric.hasKeys ? { key } : {}),
    ...(isCounted(metric.type) ? {} : { value }),
    ...(metric.perPerson === undefined ? {} : { person }),
  };
  return {
    type: "object",
    required: Object.keys(fields),
    additionalProperties: false,
    properties: { ...fields, at: { description, anyOf: times } },
  };
}

function queryFields(metrics: readonly ResolvedMetric[]): object {
  const { properties } = QUERY;
  const withPattern = (pattern: string, field: object): object => ({ ...field, pattern });
  const list = `^${SHARE}(,${SHARE}){0,5}$`;
  return {
    ...QUERY,
    properties: {
      ...properties,
      metric: { ...properties.metric, enum: metrics.map((metric) => metric.name) },
      from: withPattern(TIME, properties.from),
      to: withPattern(TIME, properties.to),
      last: withPattern(`^${DURATION}$`, properties.last),
      every: withPattern(`^(${DURATION}|1w|1mo|auto)$`, properties.every),
      quantiles: withPattern(list, properties.quantiles),
      confidence: withPattern(`^${SHARE}$`, properties.confidence),
    },
  };
}

/** A schema with a field `metric`, which is one of the local ones; any text if there is none. */
function localFields(
  schema: { readonly properties: { readonly metric: object } },
  metrics: readonly ResolvedMetric[],
): object {
  const names = metrics.flatMap(({ name, local }) => (local === undefined ? [] : name));
  const metric = { ...schema.properties.metric, ...(names.length === 0 ? {} : { enum: names }) };
  return { ...schema, properties: { ...schema.properties, metric } };
}
