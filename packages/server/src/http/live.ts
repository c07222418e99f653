/** `GET /v1/live`: numbers as they are published, as server-sent events. */
import type { FastifyInstance } from "fastify";
import { Readable } from "node:stream";
import type { Service } from "../service.js";
import { BadRequest, NotFound } from "./errors.js";
import { errorAnswers } from "./events.js";
import { LiveFeed } from "./liveFeed.js";

const MOST_READERS = 1000;
/** Milliseconds between two signs of life. */
const ALIVE = 15_000;
const SIGN_OF_LIFE = Buffer.from(": alive\n\n");

export function liveRoutes(app: FastifyInstance, service: Service): void {
  const feed = new LiveFeed(service);
  const alive = setInterval(() => feed.send(SIGN_OF_LIFE), ALIVE);
  alive.unref();
  app.addHook("preClose", (done) => {
    clearInterval(alive);
    feed.end();
    done();
  });
  app.get<{ Querystring: { metric?: string; key?: string } }>(
    "/v1/live",
    {
      config: { access: "read" },
      schema: {
        summary: "Follow published numbers",
        description:
          "Server-sent events. Each is the answer for the range of time that was just published: of all metrics, or of one metric and key.",
        security: [{}, { bearer: [] }],
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            metric: { type: "string", maxLength: 64 },
            key: { type: "string", maxLength: 128 },
          },
        },
        response: {
          200: { description: "Events.", content: { "text/event-stream": { schema: { type: "string" } } } },
          ...errorAnswers(400, 401, 404, 429, 503),
        },
      },
    },
    (request, reply) => {
      const { metric, key } = request.query;
      const known = metric === undefined ? undefined : service.metric(metric);
      if (
        metric !== undefined &&
        (known === undefined || (key !== undefined && !known.config.keys.includes(key)))
      )
        throw new NotFound("metric, key: expected ones that /v1/metrics lists");
      if (key !== undefined && metric === undefined)
        throw new BadRequest("metric: expected one, since a key is given");
      if (feed.readers >= MOST_READERS)
        return reply
          .code(503)
          .header("retry-after", 10)
          .send({ error: `live: expected at most ${MOST_READERS} readers; come back later` });
      void reply
        .type("text/event-stream")
        .header("cache-control", "no-store")
        .header("x-accel-buffering", "no");
      // HEAD has no body, so its stream would never be read to its end, nor closed.
      if (request.method === "HEAD") return reply.send();
      const stream = new Readable({ read: () => undefined });
      stream.push("retry: 2000\n\n");
      feed.add(stream, metric, key);
      return reply.send(stream);
    },
  );
}
