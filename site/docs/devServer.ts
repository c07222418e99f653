/** `npm run web`: the documentation is built when it is first asked for. */
import { createReadStream, existsSync } from "node:fs";
import { extname, join } from "node:path";
import type { Plugin } from "vite";
import { buildDocs } from "./build.js";

const OUT = "build/docs";
const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

let built: Promise<void> | undefined;

export const docsServer: Plugin = {
  name: "docs",
  apply: "serve",
  configureServer(server) {
    server.middlewares.use("/docs", (request, response, next) => {
      built ??= buildDocs(OUT);
      built
        .then(() => {
          const { pathname } = new URL(request.url!, "http://localhost");
          const path = join(OUT, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
          if (!existsSync(path)) return next();
          response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
          createReadStream(path).pipe(response);
        })
        .catch(next);
    });
  },
};
