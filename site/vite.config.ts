import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A view is a file of its own: `<!-- views/live.html -->` in the page stands for its contents. */
const views: Plugin = {
  name: "views",
  transformIndexHtml: {
    order: "pre",
    handler: (page) =>
      page.replace(/<!-- (views\/\w+\.html) -->/g, (_, path: string) => readFileSync(at(path), "utf8")),
  },
  configureServer(server) {
    server.watcher.add(at("views"));
    server.watcher.on("change", (path) => {
      if (path.endsWith(".html")) server.ws.send({ type: "full-reload" });
    });
  },
};

/** The playground as a static site that a strict Content-Security-Policy can serve: nothing inline, nothing from elsewhere. */
export default defineConfig({
  root: at("."),
  base: "./",
  plugins: [views],
  resolve: { alias: { "brume/research": at("../research/index.ts"), brume: at("../src/index.ts") } },
  build: { outDir: "dist", target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: "es" },
});
