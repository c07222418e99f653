/** `GET /v1/live`: numbers as they are published, as server-sent events. */
import type { FastifyInstance } from "fastify";
import { Readable } from "node:stream";
import type { Service } from "../service.js";
import { BadRequest, NotFound } from "./errors.js";
import { errorAnswers } from "./events.js";

const MOST_LISTENERS = 1000;
/** Milliseconds between two signs of life. */
const ALIVE = 15_000;
/** A reader that is this far behind is let go; it comes back by itself. */
const MOST_BUFFERED = 1 << 20;

export function liveRoutes(app: FastifyInstance, service: Service): void {
  const { engine } = service;
  const open = new Set<Readable>();
  app.addHook("preClose", (done) => {
    for (const stream of open) stream.push(null);
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
      const known = metric === undefined ? undefined : engine.metric(metric);
      if (metric !== undefined && (known === undefined || (key !== undefined && !known.streams.has(key))))
        throw new NotFound("metric, key: expected ones that /v1/metrics lists");
      if (key !== undefined && metric === undefined)
        throw new BadRequest("metric: expected one, since a key is given");
      if (open.size >= MOST_LISTENERS)
        return reply
          .code(503)
          .header("retry-after", 10)
          .send({ error: `live: expected at most ${MOST_LISTENERS} readers; come back later` });
      const stream = new Readable({ read: () => undefined });
      open.add(stream);
      const send = (text: string): void => {
        if (stream.readableLength > MOST_BUFFERED) stream.destroy();
        else stream.push(text);
      };
      const stopListening = engine.listen((published) => {
        if (metric !== undefined && published.metric.name !== metric) return;
        if (key !== undefined && published.key !== key) return;
        send(`data: ${JSON.stringify(service.answerOf(published))}\n\n`);
      });
      const alive = setInterval(() => send(": alive\n\n"), ALIVE);
      stream.on("close", () => {
        open.delete(stream);
        clearInterval(alive);
        stopListening();
      });
      send("retry: 2000\n\n");
      return reply
        .type("text/event-stream")
        .header("cache-control", "no-store")
        .header("x-accel-buffering", "no")
        .send(stream);
    },
  );
}
