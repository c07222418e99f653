/** For those who run it: health, readiness, Prometheus. */
import type { FastifyInstance } from "fastify";
import type { Gauges } from "../gauges.js";
import { Unavailable } from "../submission.js";
import type { WorkTurns } from "../workTurns.js";
import { errorAnswers } from "./events.js";

const STATUS = {
  type: "object",
  required: ["status"],
  properties: { status: { type: "string" }, error: { type: "string" } },
} as const;

interface Operated {
  /** Why no events can be taken, if so. */
  readonly trouble: string | undefined;
  /** Why nothing will be taken until the process is started again, if so. */
  readonly failure: string | undefined;
}

export function operationRoutes(app: FastifyInstance, operated: Operated): void {
  app.get(
    "/healthz",
    {
      schema: {
        summary: "Whether the process lives; if not, start it again",
        response: { 200: { description: "It does.", ...STATUS }, ...errorAnswers(503) },
      },
    },
    () => {
      const { failure } = operated;
      if (failure !== undefined) throw new Unavailable(failure);
      return { status: "ok" };
    },
  );
  app.get(
    "/readyz",
    {
      schema: {
        summary: "Whether events can be taken",
        response: { 200: { description: "They can.", ...STATUS }, ...errorAnswers(503) },
      },
    },
    () => {
      const { trouble } = operated;
      if (trouble !== undefined) throw new Unavailable(trouble);
      return { status: "ok" };
    },
  );
}

/** @param turns a page may be megabytes: each reader's is sent in a turn of its own */
export function metricsRoute(app: FastifyInstance, gauges: Gauges, turns: WorkTurns): void {
  app.get(
    "/metrics",
    {
      config: { access: "metrics" },
      schema: {
        summary: "Prometheus: counters of the service, and published numbers as gauges",
        security: [{}, { bearer: [] }],
        response: {
          200: { description: "Metrics.", content: { "text/plain": { schema: { type: "string" } } } },
          ...errorAnswers(401, 429, 503),
        },
      },
    },
    async (_, reply) => {
      const page = await gauges.text();
      await turns.next();
      return reply.type(gauges.contentType).send(page);
    },
  );
}
