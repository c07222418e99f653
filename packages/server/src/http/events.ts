/** `POST /v1/events`: batches of events as JSON or lines of JSON. Acknowledged means stored. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isCounted } from "../config/metrics.js";
import type { Limits } from "../config/limits.js";
import { type CheckedEvent, type Named, Unavailable } from "../submission.js";
import type { WorkTurns } from "../workTurns.js";
import { BadRequest, ERROR_SCHEMA } from "./errors.js";

/** Where events go: the hub, or the topics of a cluster. */
export interface Intake<M extends Named> {
  metric(name: string): M | undefined;
  /** Resolves when they are stored. A repeated request key counts once. */
  submit(events: readonly CheckedEvent<M>[], requestKey?: string): Promise<void>;
}

export interface IntakeOptions<M extends Named> {
  readonly intake: Intake<M>;
  readonly turns: WorkTurns;
  readonly limits: Limits;
}

/** An event as it comes. */
export interface RawEvent {
  readonly metric: string;
  readonly key?: string;
  readonly value?: number;
  readonly at?: string | number;
  readonly person?: string;
}

export const EVENT = {
  type: "object",
  required: ["metric"],
  additionalProperties: false,
  properties: {
    metric: { type: "string", maxLength: 64, description: "One of the metrics of the config." },
    key: {
      type: "string",
      maxLength: 1024,
      description:
        "Which of the metric's keys. An event with a key that is not one of them is dropped without a word.",
    },
    value: { type: "number", description: "Of a sum, mean or histogram. A count takes none." },
    at: {
      type: ["string", "number"],
      maxLength: 40,
      description: "When it happened: ISO text with a time zone, or milliseconds since 1970. Default: now.",
    },
    person: {
      type: "string",
      minLength: 1,
      maxLength: 4096,
      description: "An id of the person, the same for all events of one. It is kept as a keyed hash.",
    },
  },
} as const;

export const BATCH = {
  type: "object",
  required: ["events"],
  additionalProperties: false,
  properties: { events: { type: "array", minItems: 1, items: EVENT } },
} as const;

/** Characters of a person's id. */
const LONGEST_ID = 4096;

const ACCEPTED = {
  type: "object",
  required: ["accepted"],
  additionalProperties: false,
  properties: { accepted: { type: "integer", description: "Events of the request. They are stored." } },
} as const;

const ERRORS = [400, 401, 413, 415, 422, 429, 503] as const;

export const errorAnswers = (...codes: readonly number[]) =>
  Object.fromEntries(codes.map((code) => [code, { description: "Refused.", ...ERROR_SCHEMA }]));

/** A date, a time and a zone. */
export const ISO =
  "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])$";
const ISO_TEXT = new RegExp(ISO);
/** The last millisecond that a date has, and minus the first. */
export const FARTHEST = 8.64e15;

export function eventRoutes<M extends Named>(
  app: FastifyInstance,
  { intake, limits, turns }: IntakeOptions<M>,
): void {
  addParsers(app, turns);
  app.post<{ Body: { events: RawEvent[] } | string | undefined; Headers: { "idempotency-key"?: string } }>(
    "/v1/events",
    {
      bodyLimit: limits.body,
      config: { access: "write" },
      schema: {
        summary: "Send events",
        description:
          "The answer comes after the events are stored. Send the same Idempotency-Key again after a timeout: the batch counts once. With other events it is refused (422).",
        security: [{ bearer: [] }],
        headers: {
          type: "object",
          properties: {
            "idempotency-key": {
              type: "string",
              minLength: 1,
              maxLength: 255,
              description: "Unique for the batch.",
            },
          },
        },
        body: {
          content: {
            "application/json": { schema: BATCH },
            "application/x-ndjson": { schema: { type: "string", description: "One event per line." } },
          },
        },
        response: { 202: ACCEPTED, ...errorAnswers(...ERRORS) },
      },
    },
    async (request, reply) => {
      // Without a content type there is no body, and no schema is asked.
      if (typeof request.body !== "string" && request.body?.events === undefined)
        throw new BadRequest("body: expected events as application/json or application/x-ndjson");
      const raw =
        typeof request.body === "string"
          ? parseLines(request, request.body, limits.batch)
          : request.body.events;
      checkBatch(raw.length, limits.batch);
      const events = checkEvents((name) => intake.metric(name), raw);
      if (raw.length > LONG_BATCH) await turns.next();
      const requestKey = request.headers["idempotency-key"];
      await withTimeout(intake.submit(events, requestKey), limits.timeout);
      return reply.code(202).send({ accepted: raw.length });
    },
  );
}

/** Events of a batch that takes milliseconds to hand over. */
const LONG_BATCH = 1000;
/** Characters of a body that takes milliseconds to parse and check. */
const LONG_BODY = 1 << 14;

/** Parsers of events. Long bodies get a turn of the event loop each: parsing and checking one takes up to 30 ms. */
function addParsers(app: FastifyInstance, turns: WorkTurns): void {
  app.removeContentTypeParser("text/plain"); // pages of any site may send it without being asked
  const json = app.getDefaultJsonParser("error", "error");
  const parsers = {
    "application/json": json,
    "application/x-ndjson": (_: FastifyRequest, body: string, done: (error: null, body: string) => void) =>
      done(null, body),
  };
  for (const [type, parse] of Object.entries(parsers))
    app.addContentTypeParser(type, { parseAs: "string" }, (request, body: string, done) => {
      if (body.length <= LONG_BODY) void parse(request, body, done);
      else void turns.next().then(() => parse(request, body, done));
    });
}

function checkBatch(events: number, most: number): void {
  if (events > most)
    throw new BadRequest(`events: expected at most ${most}, got ${events}; send smaller batches`);
}

function parseLines(request: FastifyRequest, text: string, most: number): RawEvent[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  checkBatch(lines.length, most);
  const events = lines.map((line, i) => {
    try {
      return JSON.parse(line) as RawEvent;
    } catch {
      throw new BadRequest(`line ${i + 1}: expected one event as JSON; nothing of the request was taken`);
    }
  });
  const validate = request.getValidationFunction(BATCH) ?? request.compileValidationSchema(BATCH);
  if (!validate({ events })) {
    const [first] = validate.errors ?? [];
    const place = (first?.instancePath ?? "").replace(/^\/events\/?/, "").replaceAll("/", ".");
    throw new BadRequest(
      `events.${place}: ${first?.message ?? "is wrong"}; nothing of the request was taken`,
    );
  }
  return events;
}

/** Checks a batch as a whole: if any event is invalid, none is taken. The message has its place, and no value. */
export function checkEvents<M extends Named>(
  metricOf: (name: string) => M | undefined,
  raw: readonly RawEvent[],
): CheckedEvent<M>[] {
  return raw.map((event, i) => {
    const metric = metricOf(event.metric);
    if (metric === undefined || metric.config.type === "local")
      throw new BadRequest(`events.${i}.metric: expected one that takes events; /v1/metrics lists them`);
    const { type, hasKeys, perPerson } = metric.config;
    if (isCounted(type) ? event.value !== undefined : !Number.isFinite(event.value))
      throw new BadRequest(
        `events.${i}.value: expected ${isCounted(type) ? "none, since a count takes no values" : "a finite number"}`,
      );
    if ((perPerson === undefined) !== (event.person === undefined))
      throw new BadRequest(
        perPerson === undefined
          ? `events.${i}.person: expected none, since the metric protects events, not people; omit the id`
          : `events.${i}.person: expected the id of a person`,
      );
    if (event.person !== undefined && (event.person === "" || event.person.length > LONGEST_ID))
      throw new BadRequest(`events.${i}.person: expected 1 to ${LONGEST_ID} characters`);
    if (hasKeys !== (event.key !== undefined))
      throw new BadRequest(
        `events.${i}.key: expected ${hasKeys ? "a key of the metric" : "none, since the metric has no keys"}`,
      );
    return {
      metric,
      key: event.key ?? "",
      value: event.value ?? 1,
      count: 1,
      at: timeOf(event.at, i),
      person: event.person,
    };
  });
}

function timeOf(at: string | number | undefined, i: number): number | undefined {
  if (at === undefined) return undefined;
  const time = typeof at === "number" ? at : ISO_TEXT.test(at) ? Date.parse(at) : NaN;
  if (!(Math.abs(time) <= FARTHEST))
    throw new BadRequest(
      `events.${i}.at: expected ISO text with a time zone, or milliseconds since 1970; nothing of the request was taken`,
    );
  return time;
}

/** Gives up waiting: what was sent may still be stored. @param again how it is sent once more and counts once */
export async function withTimeout(
  done: Promise<void>,
  timeout: number,
  again = "with the same Idempotency-Key",
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Unavailable(`store: it timed out; send the batch again ${again}`)),
      timeout,
    );
  });
  await Promise.race([done, late]).finally(() => clearTimeout(timer));
}
