import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { docsServer } from "./docs/devServer.js";
import { POLICY } from "./policy.js";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const PAGES = ["", "play/", "attack/", "devices/", "paper/"];

const { version, license } = JSON.parse(readFileSync(at("../package.json"), "utf8")) as Record<
  "version" | "license",
  string
>;

/** `<!-- parts/header.html -->` in a page stands for that file; {{root}} is the way from the page to the site's root. */
const parts: Plugin = {
  name: "parts",
  transformIndexHtml: {
    order: "pre",
    handler(page, { filename }) {
      const root = `${relative(dirname(filename), at(".")) || "."}/`;
      return page
        .replace(/<!-- (parts\/\w+\.html) -->/g, (_, path: string) => readFileSync(at(path), "utf8"))
        .replaceAll("{{root}}", root)
        .replaceAll("{{version}}", version)
        .replaceAll("{{licence}}", license)
        .replace(/<a ([^>]*)data-page="(\w+)"/g, (link, rest: string, name: string) =>
          page.includes(`<body data-page="${name}"`) ? `<a ${rest}aria-current="page"` : link,
        );
    },
  },
  configureServer(server) {
    server.watcher.add(at("parts"));
    server.watcher.on("change", (path) => {
      if (path.endsWith(".html")) server.ws.send({ type: "full-reload" });
    });
  },
};

/** Hosts that set no headers get the policy from the page itself. */
const policy: Plugin = {
  name: "policy",
  apply: "build",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: { "http-equiv": "Content-Security-Policy", content: POLICY },
      injectTo: "head-prepend",
    },
  ],
};

/** A static site: nothing inline, nothing from elsewhere, every address relative, so that any folder can hold it. */
export default defineConfig({
  root: at("."),
  base: "./",
  appType: "mpa",
  plugins: [parts, policy, docsServer],
  resolve: { alias: { "brume-research": at("../research/index.ts"), brume: at("../src/index.ts") } },
  build: {
    outDir: "dist",
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: [...PAGES.map((page) => at(`${page}index.html`)), at("404.html")] },
  },
  worker: { format: "es" },
});
