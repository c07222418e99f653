/**
 * Writes dist/workerd for Cloudflare Workers: the library with kernels that the platform compiles when the Worker is deployed,
 * because it forbids compiling at run time.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";

mkdirSync("dist/workerd", { recursive: true });
copyFileSync("build/brume.wasm", "dist/workerd/brume.wasm");
writeFileSync(
  "dist/workerd/index.js",
  `import kernels from "./brume.wasm";
import { provideKernels } from "../lib/kernels.js";
provideKernels(kernels);
export * from "../lib/index.js";
`,
);
