/** All routes as one Fastify plugin: for the server of `brume serve`, and for an app of your own. */
import { Ajv } from "ajv";
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import rateLimit from "@fastify/rate-limit";
import swagger, { type SwaggerTransform } from "@fastify/swagger";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { Gauges } from "../gauges.js";
import { readToken } from "../config/secrets.js";
import type { Config } from "../config/types.js";
import type { Limits } from "../config/limits.js";
import type { Service } from "../service.js";
import { aboutRoutes } from "./about.js";
import { dashboardRoutes } from "./dashboard.js";
import { documentOf, documentRoute } from "./document.js";
import { answerError, frameworkError } from "./errors.js";
import { eventRoutes } from "./events.js";
import { liveRoutes } from "./live.js";
import { localRoutes } from "./local.js";
import { metricsRoute, operationRoutes } from "./operation.js";
import { otlpRoutes } from "./otlp.js";
import { queryRoutes } from "./query.js";

export interface PluginOptions {
  readonly service: Service;
}

/** The right that a route needs. */
type Access = "write" | "read" | "metrics" | "public";

type Tokens = Readonly<Partial<Record<Access, string>>>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: public. */
    access?: Access;
  }
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

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A hook that lets a request through if its route needs no token, or if it has the right one; compared in constant time. */
function accessHook(tokens: Tokens) {
  const wanted = new Map(Object.entries(tokens).map(([access, token]) => [access, digest(token)]));
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const digested = wanted.get(request.routeOptions.config.access ?? "public");
    if (digested === undefined || timingSafeEqual(digested, digest(bearerOf(request)))) return done();
    void reply.code(401).header("www-authenticate", "Bearer").send(frameworkError(401));
  };
}

function bearerOf({ headers }: FastifyRequest): string {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

/** Answers for paths that are not there: 404, or 405 where another method is. Call it before routes are added. */
function answerUnknown(app: FastifyInstance): void {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(url, known);
  });
  const allowed = (path: string): string[] =>
    [...methods].flatMap(([pattern, known]) => (fits(pattern, path) ? [...known] : []));
  app.setNotFoundHandler((_, reply) => reply.code(404).send(frameworkError(404)));
  // Before a body is read: what it should be is not known.
  app.addHook("onRequest", (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const unknown = request.is404 || request.routeOptions.url?.endsWith("*") === true; // a star: files
    const others = unknown ? allowed(request.url.split("?", 1)[0]!) : [];
    // With the same method the path was refused for its length.
    if (others.length === 0 || others.includes(request.method)) return done();
    void reply.code(405).header("allow", others.join(", ")).send(frameworkError(405));
  });
}

/** "/v1/local/:metric" fits "/v1/local/pageload". A pattern with a star, as files have, fits nothing here. */
function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith(":") || part === given[i])
  );
}

const NO_COUNTS = { "x-ratelimit-limit": false, "x-ratelimit-remaining": false, "x-ratelimit-reset": false };

const tooMany = () => Object.assign(new Error("rate"), { statusCode: 429 });
