/** Routes that say what the service publishes and promises: `/v1/metrics` and `/v1/statement`. */
import type { FastifyInstance } from "fastify";
import type { Answer, Service } from "../service.js";
import type { ServedMetric } from "../servedMetrics.js";
import { explainService, serviceRecord, serviceStatement } from "../statement.js";
import { errorAnswers } from "./events.js";

export function aboutRoutes(app: FastifyInstance, service: Service): void {
  app.get(
    "/v1/metrics",
    {
      config: { access: "read" },
      schema: {
        summary: "What is published: metrics, their keys, units and periods, and when the next number comes",
        security: [{}, { bearer: [] }],
        response: {
          200: { description: "Metrics.", type: "object", additionalProperties: true },
          ...errorAnswers(401, 429, 503),
        },
      },
    },
    async () => {
      const { now, zone, turns } = service;
      const metrics = await turns.read(() =>
        Promise.all([...service.metrics.values()].map((served) => aboutMetric(service, served))),
      );
      return { now, zone, metrics };
    },
  );
  app.get<{ Querystring: { format?: "json" | "text" | "registry" } }>(
    "/v1/statement",
    {
      config: { access: "read" },
      schema: {
        summary: "What is protected, how strongly, and what is not",
        security: [{}, { bearer: [] }],
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            format: {
              type: "string",
              enum: ["json", "text", "registry"],
              description:
                "Default json. registry: a record for the public registry of deployments, to be completed.",
            },
          },
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
    async (request, reply) => {
      const statement = await serviceStatement(service);
      if (request.query.format === "text")
        return reply.type("text/plain; charset=utf-8").send(explainService(statement));
      return reply.send(request.query.format === "registry" ? serviceRecord(statement) : statement);
    },
  );
}

async function aboutMetric(service: Service, { config: metric }: ServedMetric): Promise<object> {
  const { name, type, unit, keys, hasKeys, every, over, epsilon, perPerson, options } = metric;
  const about = {
    ...{ name, type, unit, epsilon, keys: hasKeys ? keys : [] },
    perPerson: over === undefined ? (perPerson ?? null) : null,
    ...(over === undefined ? {} : { people: { over, keysPerPerson: perPerson!.events } }),
  };
  if (options === undefined) return { ...about, every: null, levels: [], next: null };
  const { levels, standardErrors, min, perPerson: limit, shares } = await service.statement(metric);
  const { next } = (await service.ask(name, keys[0]!, { last: over ?? every }, {})) as Answer;
  return {
    ...about,
    perPerson: limit,
    ...(min === null ? {} : { min }),
    countsClipped: shares.clipped > 0,
    every: levels[0],
    levels,
    standardErrors,
    next,
  };
}
