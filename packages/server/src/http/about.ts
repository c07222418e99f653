/** What the service publishes and promises: `/v1/metrics` and `/v1/statement`. */
import type { FastifyInstance } from "fastify";
import type { Service } from "../service.js";
import { explainService, serviceStatement } from "../statement.js";
import { errorAnswers } from "./events.js";

export function aboutRoutes(app: FastifyInstance, service: Service): void {
  const { engine } = service;
  app.get(
    "/v1/metrics",
    {
      config: { access: "read" },
      schema: {
        summary: "What is published: metrics, their keys and units",
        security: [{}, { bearer: [] }],
        response: {
          200: { description: "Metrics.", type: "object", additionalProperties: true },
          ...errorAnswers(401, 429, 503),
        },
      },
    },
    () => ({
      now: engine.time,
      metrics: [...engine.metrics].map((live) => {
        const { name, type, unit, keys, hasKeys, every, epsilon, perPerson } = live.metric;
        const estimateEvery = engine.stream(live, keys[0] ?? "")?.statement().block ?? null;
        return { name, type, unit, every, estimateEvery, epsilon, perPerson, keys: hasKeys ? keys : [] };
      }),
    }),
  );
  app.get<{ Querystring: { format?: "json" | "text" } }>(
    "/v1/statement",
    {
      config: { access: "read" },
      schema: {
        summary: "What is protected, how strongly, and what is not",
        security: [{}, { bearer: [] }],
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: { format: { type: "string", enum: ["json", "text"], description: "Default json." } },
        },
        response: {
          200: {
            description: "The statement, for machines or for people.",
            content: {
              "application/json": { schema: { type: "object", additionalProperties: true } },
              "text/plain": { schema: { type: "string" } },
            },
          },
          ...errorAnswers(400, 401, 429, 503),
        },
      },
    },
    (request, reply) => {
      const statement = serviceStatement(service);
      return request.query.format === "text"
        ? reply.type("text/plain; charset=utf-8").send(explainService(statement))
        : reply.send(statement);
    },
  );
}
