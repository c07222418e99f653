import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The dashboard as static files that a strict Content-Security-Policy can serve. It has the look of the site. */
export default defineConfig({
  root: at("."),
  base: "./",
  publicDir: at("../../../site/public"),
  build: {
    outDir: at("../dist/dashboard"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
