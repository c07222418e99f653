/** For those who run it: health, readiness, Prometheus. */
import type { FastifyInstance } from "fastify";
import { Unavailable } from "../engine/engine.js";
import type { Gauges } from "../gauges.js";
import { errorAnswers } from "./events.js";

const STATUS = {
  type: "object",
  required: ["status"],
  properties: { status: { type: "string" }, error: { type: "string" } },
} as const;

/** @param engine says why it takes no events, if so */
export function operationRoutes(
  app: FastifyInstance,
  engine: { readonly trouble: string | undefined },
): void {
  app.get(
    "/healthz",
    {
      schema: {
        summary: "Whether the process lives",
        response: { 200: { description: "It does.", ...STATUS } },
      },
    },
    () => ({ status: "ok" }),
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
      const { trouble } = engine;
      if (trouble !== undefined) throw new Unavailable(trouble);
      return { status: "ok" };
    },
  );
}

export function metricsRoute(app: FastifyInstance, gauges: Gauges): void {
  app.get(
    "/metrics",
    {
      config: { access: "metrics" },
      schema: {
        summary: "Prometheus: counters of the service, and published numbers as gauges",
        security: [{}, { bearer: [] }],
        response: {
          200: { description: "Metrics.", content: { "text/plain": { schema: { type: "string" } } } },
          ...errorAnswers(401, 429),
        },
      },
    },
    async (_, reply) => reply.type(gauges.contentType).send(await gauges.text()),
  );
}
