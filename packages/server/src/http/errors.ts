/** Errors as answers. They name the field, what was expected and what to do; never a value, a key or an id. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Busy, KeyReused, Unavailable } from "../submission.js";
import { Abandoned, TooManyReads } from "../workTurns.js";

/** A request that makes no sense; the message is shown. */
export class BadRequest extends Error {
  readonly statusCode: number = 400;
}

export class NotFound extends BadRequest {
  override readonly statusCode = 404;
}

export class TooLarge extends BadRequest {
  override readonly statusCode = 413;
}

export interface ErrorBody {
  readonly error: string;
}

export const ERROR_SCHEMA = {
  type: "object",
  required: ["error"],
  additionalProperties: false,
  properties: { error: { type: "string", description: "What was expected, and what to do." } },
} as const;

/** Words for errors that the framework found: its own texts quote what came. */
const WORDS: Readonly<Record<number, string>> = {
  400: "request: expected a body of the stated type and form",
  403: "origin: expected this service's own, or one that cors lists",
  401: "authorization: expected a valid bearer token",
  404: "path: expected one of /openapi.json",
  405: "method: expected one that /openapi.json lists for this path",
  408: "request: expected it to be complete sooner",
  413: "request: expected fewer bytes; send smaller batches",
  414: "path: expected a shorter one",
  415: "content-type: expected one that /openapi.json lists for this path, plain or with content-encoding gzip",
  421: "host: expected a name of this machine, or one that listen.names lists",
  429: "rate: expected fewer requests; wait as Retry-After says",
  431: "headers: expected fewer bytes",
};

export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): ErrorBody {
  if (error instanceof Busy) {
    void reply.code(429).header("retry-after", error.seconds);
    return {
      error: "load: too many events wait for the store; wait as Retry-After says, then send them again",
    };
  }
  if (error instanceof TooManyReads) {
    void reply.code(503).header("retry-after", error.seconds);
    return {
      error: "load: too many questions wait for their answers; wait as Retry-After says, then ask again",
    };
  }
  if (error instanceof Abandoned) {
    void reply.code(503);
    return { error: "request: the connection was closed before the answer" };
  }
  if (error instanceof Unavailable) {
    void reply.code(503).header("retry-after", 5);
    return { error: error.message };
  }
  if (error instanceof KeyReused) {
    void reply.code(422);
    return {
      error:
        "idempotency-key: expected a new one, since another batch had it; nothing of this request was taken",
    };
  }
  if (error instanceof BadRequest) {
    void reply.code(error.statusCode);
    return { error: error.message };
  }
  if (error.validation !== undefined) {
    void reply.code(400);
    return { error: validationMessage(error) };
  }
  const status = error.statusCode ?? 500;
  void reply.code(status);
  if (status < 500) return { error: WORDS[status] ?? "request: expected another one; see /openapi.json" };
  // The message may repeat private data: only its class and its place are logged.
  request.log.error(error, "unexpected error; this is a bug in brume");
  return { error: "server: an unexpected error; its place is in the log" };
}

export const frameworkError = (status: number): ErrorBody => ({
  error: WORDS[status] ?? "request: expected another one; see /openapi.json",
});

/** Where an error was thrown: file and line, no message. */
export const framesOf = (error: Error): readonly string[] =>
  (error.stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));

/** Ajv's messages name the path and the rule, not the value; a name of a field may come from the sender, so it is left out. */
function validationMessage({ validation, validationContext }: FastifyError): string {
  const [first] = validation ?? [];
  const path = `${validationContext ?? "request"}${(first?.instancePath ?? "").replaceAll("/", ".")}`;
  const rule =
    first?.keyword === "additionalProperties"
      ? "has a field that is not known"
      : (first?.message ?? "is wrong");
  return `${path}: ${rule}; see /openapi.json`;
}
