/**
 * Bundles the library for Cloudflare Workers into dist/workerd: kernels are a .wasm file that the platform compiles when the
 * Worker is deployed, because it forbids compiling at run time.
 */
import { copyFileSync } from "node:fs";
import { build } from "esbuild";

const OUT = "dist/workerd";

await build({
  entryPoints: ["src/index.ts"],
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  outdir: OUT,
  charset: "utf8",
  logLevel: "warning",
  plugins: [
    {
      name: "compiled kernels",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path, external: true }));
        onLoad({ filter: /[\\/]core[\\/]wasm[\\/]source\.ts$/ }, () => ({
          contents: 'import module from "./brume.wasm"; export const wasmSource = () => module;',
        }));
      },
    },
  ],
});
copyFileSync("build/brume.wasm", `${OUT}/brume.wasm`);
