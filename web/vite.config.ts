import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** The playground as a static site that a strict Content-Security-Policy can serve: nothing inline, nothing from elsewhere. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  resolve: { alias: { brume: fileURLToPath(new URL("../src/index.ts", import.meta.url)) } },
  build: { outDir: "dist", target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: "es" },
});
