/**
 * `POST /v1/metrics`: OpenTelemetry's OTLP/HTTP, with protobuf or JSON bodies. A delta sum of n counts n events of a count; a point of
 * a gauge is one event with its value. The attributes `key` and `person` are what they are in /v1/events. Aggregates of
 * many people (histograms, cumulative sums, summaries) have no person, so no ε could be kept: their points are rejected.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type CheckedEvent, eventCount, type Named } from "../submission.js";
import { answerError, BadRequest, TooLarge } from "./errors.js";
import { checkEvents, errorAnswers, type IntakeOptions, type RawEvent, withTimeout } from "./events.js";
import { decodeMetrics, encodeAnswer, encodeError, MOST_PROTOBUF_BYTES, PROTOBUF } from "./otlpProtobuf.js";

export interface Point {
  readonly attributes?: readonly {
    readonly key: string;
    readonly value?: { readonly stringValue?: string };
  }[];
  /** 64-bit numbers are text in JSON. */
  readonly timeUnixNano?: string | number;
  readonly asInt?: string | number;
  readonly asDouble?: number;
}

export interface OtlpMetric {
  readonly name: string;
  readonly gauge?: { readonly dataPoints?: readonly Point[] };
  readonly sum?: {
    readonly dataPoints?: readonly Point[];
    readonly aggregationTemporality?: number | string;
    readonly isMonotonic?: boolean;
  };
}

export interface OtlpBody {
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics?: readonly { readonly metrics?: readonly OtlpMetric[] }[];
  }[];
}

const list = (items: object) => ({ type: "array", items }) as const;
/** Fields that are not read may be anything, as the protocol asks of servers. */
const fields = (properties: object, required: readonly string[] = []) =>
  ({ type: "object", required, properties }) as const;
const WHOLE = { type: ["string", "integer"], pattern: "^-?[0-9]{1,20}$" } as const;
const TEXT = { type: "string", maxLength: 4096 } as const;

const POINTS = list(
  fields({
    attributes: list(fields({ key: TEXT, value: fields({ stringValue: TEXT }) }, ["key"])),
    timeUnixNano: WHOLE,
    asInt: WHOLE,
    asDouble: { type: "number" },
  }),
);
const METRIC = fields(
  {
    name: { type: "string", maxLength: 256 },
    gauge: fields({ dataPoints: POINTS }),
    sum: fields({
      dataPoints: POINTS,
      aggregationTemporality: { type: ["string", "integer"] },
      isMonotonic: { type: "boolean" },
    }),
    ...Object.fromEntries(
      ["histogram", "exponentialHistogram", "summary"].map((kind) => [
        kind,
        fields({ dataPoints: list({}) }),
      ]),
    ),
  },
  ["name"],
);
const BODY = fields({
  resourceMetrics: list(fields({ scopeMetrics: list(fields({ metrics: list(METRIC) })) })),
});
const ANSWER = {
  type: "object",
  additionalProperties: false,
  properties: {
    partialSuccess: fields({ rejectedDataPoints: { type: "integer" }, errorMessage: { type: "string" } }),
  },
} as const;

/** Bytes of a JSON body, decompressed: parsing and checking this many take some 30 ms, and a whole batch of points fits. */
const MOST_JSON_BYTES = 3 << 17;
/** A sum of more than this in one point is a mistake. */
const MOST_AT_ONCE = 10_000;
const REJECTED =
  "expected delta sums of counts and gauges of other metrics, with the attributes key and person that the metric needs; see /v1/metrics";

export function otlpRoutes<M extends Named>(
  app: FastifyInstance,
  { intake, limits, turns }: IntakeOptions<M>,
): void {
  app.addContentTypeParser(PROTOBUF, { parseAs: "buffer" }, async (_: FastifyRequest, body: Buffer) => {
    if (body.length > MOST_PROTOBUF_BYTES)
      throw new TooLarge("body: expected at most 256 KiB; export more often");
    await turns.next();
    try {
      return decodeMetrics(body);
    } catch {
      throw new BadRequest("body: expected an ExportMetricsServiceRequest of OTLP; nothing was taken");
    }
  });
  app.post<{ Body: OtlpBody | undefined }>(
    "/v1/metrics",
    {
      bodyLimit: Math.min(limits.body, MOST_JSON_BYTES),
      config: { access: "write" },
      preValidation(request, _, done) {
        const isTooLarge = hasMoreObjects(request.body, OBJECTS_PER_EVENT * limits.batch);
        done(isTooLarge ? tooManyPoints(limits.batch) : undefined);
      },
      errorHandler(error, request, reply) {
        const answer = answerError(error, request, reply);
        if (isProtobuf(request)) void reply.type(PROTOBUF).send(encodeError(answer.error));
        else void reply.send(answer);
      },
      schema: {
        summary: "Send events as OpenTelemetry metrics (OTLP/HTTP, protobuf or JSON)",
        description:
          "Delta sums and gauges with the attributes key and person. The answer comes after they are stored. The protocol has no idempotency key: a retry after a lost answer counts twice.",
        security: [{ bearer: [] }],
        body: {
          content: {
            "application/json": { schema: BODY },
            [PROTOBUF]: {
              schema: { description: "An ExportMetricsServiceRequest, at most 256 KiB after decompression." },
            },
          },
        },
        response: {
          200: { description: "Valid points are stored.", ...ANSWER },
          ...errorAnswers(400, 401, 413, 415, 429, 503),
        },
      },
    },
    async (request, reply) => {
      if (request.body === undefined)
        throw new BadRequest(`body: expected OTLP metrics as ${PROTOBUF} or application/json`);
      const metrics = metricsOf(request.body, limits.batch);
      const { events, rejected } = eventsOf(metrics, (raw) =>
        checkEvents((name) => intake.metric(name), [raw]),
      );
      if (eventCount(events) > limits.batch)
        throw new BadRequest(`body: expected at most ${limits.batch} events; export more often`);
      if (events.length > 0) await withTimeout(intake.submit(events), limits.timeout);
      const answer =
        rejected === 0 ? {} : { partialSuccess: { rejectedDataPoints: rejected, errorMessage: REJECTED } };
      return isProtobuf(request) ? reply.type(PROTOBUF).send(encodeAnswer(answer)) : answer;
    },
  );
}

const isProtobuf = ({ headers }: FastifyRequest): boolean =>
  headers["content-type"]?.split(";")[0]!.trim().toLowerCase() === PROTOBUF;

/**
 * All metrics of a request. Refuses more points than a batch may have before any of them is looked at; a metric without
 * points takes as long as one.
 */
function metricsOf({ resourceMetrics = [] }: OtlpBody, most: number): readonly OtlpMetric[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics = [] }) =>
    scopeMetrics.flatMap(({ metrics = [] }) => metrics),
  );
  const points = metrics.reduce((sum, metric) => sum + Math.max(1, dataPointsOf(metric)), 0);
  if (points > most) throw tooManyPoints(most);
  return metrics;
}

const tooManyPoints = (most: number): BadRequest =>
  new BadRequest(`body: expected at most ${most} points and metrics; export more often`);

/** Objects and lists that an event may take: its point, its metric, attributes and their values. */
const OBJECTS_PER_EVENT = 16;

/**
 * Whether a body has more than so many objects and lists. Checking a body against its schema takes microseconds for each of
 * them, so that a body full of empty ones would hold up everybody.
 */
function hasMoreObjects(body: unknown, most: number): boolean {
  const waiting: unknown[] = [body];
  for (let found = 0; waiting.length > 0;) {
    const part = waiting.pop();
    if (typeof part !== "object" || part === null) continue;
    if (++found > most) return true;
    for (const inner of Object.values(part)) if (typeof inner === "object") waiting.push(inner);
  }
  return false;
}

/** How many points a metric has, of whatever kind. */
function dataPointsOf(metric: OtlpMetric): number {
  let points = 0;
  for (const kind of Object.values(metric) as unknown[]) {
    const { dataPoints } = Object(kind) as { dataPoints?: unknown };
    if (Array.isArray(dataPoints)) points += dataPoints.length;
  }
  return points;
}

function eventsOf<M extends Named>(
  metrics: readonly OtlpMetric[],
  check: (event: RawEvent) => CheckedEvent<M>[],
): { readonly events: readonly CheckedEvent<M>[]; readonly rejected: number } {
  const events: CheckedEvent<M>[] = [];
  let rejected = 0;
  for (const metric of metrics)
    for (const { event, times } of pointsOf(metric)) {
      const [checked] = event === undefined ? [] : attempt(() => check(event));
      if (checked === undefined) rejected++;
      else if (times > 0) events.push({ ...checked, count: times });
    }
  return { events, rejected };
}

function attempt<T>(check: () => T[]): T[] {
  try {
    return check();
  } catch (error) {
    if (error instanceof BadRequest) return []; // the sender reads how many there were
    throw error;
  }
}

/** One entry per point; without an event where it makes no sense. */
function pointsOf(metric: OtlpMetric): { readonly event?: RawEvent; readonly times: number }[] {
  const { name, gauge, sum } = metric;
  if (gauge !== undefined)
    return (gauge.dataPoints ?? []).map((point) => ({
      event: { ...eventOf(name, point), value: Number(point.asDouble ?? point.asInt ?? NaN) },
      times: 1,
    }));
  if (sum === undefined) return Array.from({ length: dataPointsOf(metric) }, () => ({ times: 0 }));
  const delta = [1, "AGGREGATION_TEMPORALITY_DELTA"].includes(sum.aggregationTemporality ?? 0);
  return (sum.dataPoints ?? []).map((point) => {
    const times = Number(point.asInt ?? point.asDouble ?? NaN);
    const right = delta && sum.isMonotonic === true && Number.isInteger(times) && times >= 0;
    return right && times <= MOST_AT_ONCE ? { event: eventOf(name, point), times } : { times: 0 };
  });
}

function eventOf(metric: string, { attributes = [], timeUnixNano }: Point): RawEvent {
  const text = (name: string): string | undefined =>
    attributes.find(({ key }) => key === name)?.value?.stringValue;
  const [key, person] = [text("key"), text("person")];
  const nanoseconds = Number(timeUnixNano ?? 0); // 0 means that the time is not known
  return {
    metric,
    ...(key === undefined ? {} : { key }),
    ...(person === undefined || person === "" ? {} : { person }),
    ...(nanoseconds === 0 ? {} : { at: Math.floor(nanoseconds / 1e6) }),
  };
}
