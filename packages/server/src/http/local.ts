/** The local model: what devices are asked for, where their reports go, and a script that reports once per visit. */
import type { FastifyInstance } from "fastify";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ServedMetric } from "../servedMetrics.js";
import type { Service } from "../service.js";
import { BadRequest, NotFound } from "./errors.js";
import { errorAnswers, withTimeout } from "./events.js";

const REPORT_BYTES = 8;
const MOST_BYTES = 1 << 16;
/** Seconds that a device may keep what it was told, at most: θ changes at midnight. */
const KEPT = 60;

export const NAMED = {
  type: "object",
  required: ["metric"],
  properties: { metric: { type: "string", maxLength: 64 } },
} as const;

export const REPORTS = {
  type: "object",
  required: ["metric", "batch"],
  additionalProperties: false,
  properties: {
    metric: { type: "string", maxLength: 64 },
    batch: {
      type: "string",
      minLength: 1,
      maxLength: 64,
      description: "Random, the same when sent again.",
    },
  },
} as const;

export function localRoutes(app: FastifyInstance, service: Service): void {
  const localOf = (name: string): ServedMetric => {
    const served = service.metric(name);
    if (served?.local === undefined)
      throw new NotFound("metric: expected one of type local; /v1/metrics lists them");
    return served;
  };
  // Pages send reports without a content type, so that no question goes ahead of them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: MOST_BYTES }, (_, body, done) =>
    done(null, body),
  );
  app.get<{ Params: { metric: string } }>(
    "/v1/local/:metric",
    {
      schema: {
        summary: "What devices are asked for",
        params: NAMED,
        response: {
          200: { description: "θ of the day, and until when.", type: "object", additionalProperties: true },
          ...errorAnswers(400, 404, 429),
        },
      },
    },
    (request, reply) => {
      const { config: metric, local } = localOf(request.params.metric);
      const { max, reports } = metric.local!;
      const terms = local!.terms;
      const kept = Math.min(KEPT, Math.floor((terms.until - service.now) / 1000));
      void reply.header("cache-control", kept > 0 ? `public, max-age=${kept}` : "no-store");
      return { ...terms, epsilon: metric.epsilon, max, reports };
    },
  );
  app.post<{ Querystring: { metric: string; batch: string } }>(
    "/v1/reports",
    {
      schema: {
        summary: "Send reports of devices",
        description:
          "Packed reports, 8 bytes each, as brume/device sends them. A batch that comes again counts once.",
        querystring: REPORTS,
        response: {
          204: { description: "They are stored.", type: "null" },
          ...errorAnswers(400, 404, 413, 422, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { limits } = service;
      const { metric, batch } = request.query;
      const served = localOf(metric);
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      if (body.length === 0 || body.length % REPORT_BYTES !== 0)
        throw new BadRequest("body: expected packed reports of 8 bytes each");
      await withTimeout(service.report(served, body, batch), limits.timeout, "with the same name");
      return reply.code(204).send();
    },
  );
  const library = deviceScript();
  app.get<{ Params: { metric: string } }>(
    "/v1/local/:metric/script.js",
    {
      schema: {
        summary: "A script tag that reports the load time of a page",
        params: NAMED,
        response: {
          200: {
            description: "The script.",
            content: { "text/javascript": { schema: { type: "string" } } },
          },
          ...errorAnswers(400, 404, 429),
        },
      },
    },
    (request, reply) => {
      const { config: metric } = localOf(request.params.metric);
      if (library === undefined)
        throw new NotFound("script: expected the built package brume beside this one; run: npm run build");
      return reply
        .type("text/javascript; charset=utf-8")
        .header("cache-control", "public, max-age=3600")
        .header("cross-origin-resource-policy", "cross-origin")
        .send(
          `${library}\n${pageLoad(metric.name, metric.epsilon, metric.local!.max, metric.local!.reports)}`,
        );
    },
  );
}

/** The device's part of the library, as the build makes it. */
function deviceScript(): string | undefined {
  const root = dirname(createRequire(import.meta.url).resolve("brume/package.json"));
  const file = join(root, "dist/browser/device.iife.js");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Reports the load time once per visit. The budget is kept on the device; ε and the bound stand in the script. */
export function pageLoad(name: string, epsilon: number, max: number, reports: number): string {
  const options = JSON.stringify({ name, epsilon, max, budget: { reports, every: "1d" } });
  return `(() => {
  const at = (path) => new URL(path, document.currentScript.src).href;
  const device = brume.device({ ...${options}, url: at("../../reports?metric=${encodeURIComponent(name)}"), terms: at("../${encodeURIComponent(name)}") });
  addEventListener("load", () => setTimeout(() => {
    const [visit] = performance.getEntriesByType("navigation");
    if (visit) device.report(visit.loadEventEnd, { id: String(performance.timeOrigin) }).catch(() => undefined);
  }));
})();
`;
}
