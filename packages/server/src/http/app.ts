/** All routes as one Fastify plugin: for the server of `brume serve`, and for an app of your own. */
import { Ajv } from "ajv";
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import rateLimit from "@fastify/rate-limit";
import swagger, { type SwaggerTransform } from "@fastify/swagger";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { Gauges } from "../gauges.js";
import { readToken } from "../config/secrets.js";
import type { Config } from "../config/types.js";
import type { Limits } from "../config/limits.js";
import type { Service } from "../service.js";
import { aboutRoutes } from "./about.js";
import { accessHook, type Tokens } from "./access.js";
import { dashboardRoutes } from "./dashboard.js";
import { documentOf, documentRoute } from "./document.js";
import { answerError } from "./errors.js";
import { eventRoutes } from "./events.js";
import { liveRoutes } from "./live.js";
import { localRoutes } from "./local.js";
import { answerUnknown } from "./methods.js";
import { metricsRoute, operationRoutes } from "./operation.js";
import { otlpRoutes } from "./otlp.js";
import { queryRoutes } from "./query.js";

export interface PluginOptions {
  readonly service: Service;
}

/** Routes that events come by: how often they are used is not counted. */
const INTAKE = ["/v1/events", "/v1/reports"];
const READS = ["GET", "HEAD"];

/** Prepares what every server has before its routes: checks, errors, limits, tokens, the OpenAPI document. */
export async function prepare(
  app: FastifyInstance,
  { config, limits }: { readonly config: Config; readonly limits: Limits },
  transform: SwaggerTransform,
): Promise<void> {
  app.setErrorHandler(answerError);
  // A validator of its own, so that an app around it does not turn "12" into 12, or drop fields that it does not know.
  const ajv = new Ajv({ strict: false });
  app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object));
  answerUnknown(app);
  await app.register(compress, { global: false, globalDecompression: true, requestEncodings: ["gzip"] });
  await app.register(cors, { origin: originsOf(config), methods: ["GET", "POST"], maxAge: 86_400 });
  if (limits.perMinute > 0)
    await app.register(rateLimit, {
      max: limits.perMinute,
      timeWindow: 60_000,
      // What is left would tell how often others behind the same address ask.
      addHeaders: NO_COUNTS,
      addHeadersOnExceeding: NO_COUNTS,
      errorResponseBuilder: tooMany,
    });
  await app.register(swagger, {
    transform,
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Brume service",
        version: "1",
        description: "Events in, differentially private counts, sums, means and percentiles out.",
      },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
  });
  app.addHook("onRequest", accessHook(tokensOf(config)));
}

export const brumePlugin: FastifyPluginAsync<PluginOptions> = async (app, { service }) => {
  const gauges = new Gauges(service, tokensOf(service.config).metrics !== undefined);
  await prepare(app, service, documentOf(service.metrics.values()));
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url;
    if (route !== undefined && READS.includes(request.method) && !INTAKE.includes(route))
      gauges.read(route, reply.statusCode);
    done();
  });
  // After the plugins above, which look at routes as they are added.
  await app.register(async (routes: FastifyInstance) => {
    const { limits, turns } = service;
    eventRoutes(routes, { intake: service, limits, turns });
    otlpRoutes(routes, { intake: service, limits, turns });
    queryRoutes(routes, service);
    liveRoutes(routes, service);
    aboutRoutes(routes, service);
    operationRoutes(routes, service);
    metricsRoute(routes, gauges, turns);
    await routes.register((local) => Promise.resolve(localRoutes(local, service)));
    await routes.register(dashboardRoutes);
    documentRoute(routes, () => app.swagger());
  });
};

/** Only pages of the listed origins may read answers. */
function originsOf({ cors = [] }: Config): string[] | "*" | false {
  return cors.includes("*") ? "*" : cors.length === 0 ? false : [...cors];
}

export function tokensOf({ tokens = {} }: Config): Tokens {
  const read = readToken("tokens.read", tokens.read);
  const write = readToken("tokens.write", tokens.write);
  const metrics = readToken("tokens.metrics", tokens.metrics) ?? read;
  return {
    ...(read === undefined ? {} : { read }),
    ...(write === undefined ? {} : { write }),
    ...(metrics === undefined ? {} : { metrics }),
  };
}

const NO_COUNTS = { "x-ratelimit-limit": false, "x-ratelimit-remaining": false, "x-ratelimit-reset": false };

const tooMany = () => Object.assign(new Error("rate"), { statusCode: 429 });
