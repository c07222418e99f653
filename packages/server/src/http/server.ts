/** The server of `brume serve`: Fastify with limits, timeouts and logs that hold no data. */
import { Refusal } from "brume/node";
import Fastify, { type FastifyInstance, type FastifyReply, LogController } from "fastify";
import { pino, type Logger } from "pino";
import type { Config } from "../config/types.js";
import type { Limits } from "../config/limits.js";
import type { Service } from "../service.js";
import { brumePlugin } from "./app.js";
import { frameworkError, framesOf } from "./errors.js";
import { guardLoopback, isLoopback } from "./guard.js";

/** Requests and errors in logs: method, route, class and place. Questions, addresses, bodies and messages stay out. */
const serializers = {
  req: ({ method, routeOptions }: { method: string; routeOptions?: { url?: string } }) => ({
    method,
    route: routeOptions?.url ?? "unknown",
  }),
  res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
  err: (error: Error) => ({ class: error.name, at: framesOf(error) }),
};

export const makeLogger = (level: NonNullable<Config["log"]> = "info"): Logger =>
  pino({ level, serializers });

export async function makeServer(service: Service, logger: Logger): Promise<FastifyInstance> {
  const app = emptyServer(service, logger);
  guardLoopback(app, service.config);
  await app.register(brumePlugin, { service });
  return app;
}

/** A server without routes. */
export function emptyServer(
  { config, limits }: { readonly config: Config; readonly limits: Limits },
  logger: Logger,
): FastifyInstance {
  checkExposure(config);
  return Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }), // a line per request would tell how many there are
    bodyLimit: limits.body,
    connectionTimeout: 60_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, maxHeaderSize: 16_384 },
    routerOptions: { maxParamLength: 128, ignoreTrailingSlash: false },
    frameworkErrors: (error, _, reply: FastifyReply) => {
      const given = error.statusCode ?? 400;
      const status = given === 414 ? 404 : given; // a name too long for a metric is no metric
      void reply.code(status).send(frameworkError(status));
    },
    return503OnClosing: true,
    forceCloseConnections: "idle",
  }) as unknown as FastifyInstance;
}

/** A service that others reach takes events from those who have the token. */
export function checkExposure(config: Config): void {
  const host = config.listen?.host ?? "127.0.0.1";
  if (!isLoopback(host) && config.tokens?.write === undefined)
    throw new Refusal(
      `tokens.write: expected a token, since ${host} can be reached from other machines; set tokens.write, or listen on 127.0.0.1`,
    );
  const udp = config.statsd?.host ?? "127.0.0.1";
  if (!isLoopback(udp))
    throw new Refusal(
      `statsd.host: expected an address of this machine alone, got ${udp}: a datagram has no token, so that anyone could send events; listen on 127.0.0.1 and send from there, or use /v1/events`,
    );
}
