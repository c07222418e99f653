/** The dashboard at `/`: static files, made by the build. */
import helmet from "@fastify/helmet";
import files from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Beside the built code; or, when it runs from the sources, where the build puts it. */
const PLACES = ["../dashboard", "../../dist/dashboard"];

export async function dashboardRoutes(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"], // charts place their parts by style attributes
        fontSrc: ["'self'"],
        imgSrc: ["'self'", "blob:"], // a chart becomes a picture in the page
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false, // the proxy that ends TLS decides
  });
  const root = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(existsSync);
  if (root === undefined)
    app.get("/", { schema: { hide: true } }, () => ({ openapi: "/openapi.json", metrics: "/v1/metrics" }));
  else await app.register(files, { root, index: "index.html", schemaHide: true, dotfiles: "ignore" });
}
