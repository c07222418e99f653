import { defineConfig } from "vitest/config";

/** .ci/run asks for a machine-readable copy of the result here. */
const report = process.env["BRUME_TEST_REPORT"];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    ...(report ? { reporters: ["default", "json"], outputFile: { json: report } } : {}),
  },
});
