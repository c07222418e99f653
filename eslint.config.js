import js from "@eslint/js";
import tseslint from "typescript-eslint";

/** Imports point one way: core ← snapshot ← stream ← events ← local ← durable, adapters ← cli; research, packages and site use them all. */
const layers = {
  core: ["snapshot", "stream", "events", "local", "device", "durable", "adapters", "cli", "research"],
  snapshot: ["stream", "events", "local", "device", "durable", "adapters", "cli", "research"],
  stream: ["events", "local", "device", "durable", "adapters", "cli", "research"],
  local: ["stream", "device", "durable", "adapters", "cli", "research"],
  device: ["stream", "durable", "adapters", "cli", "research"],
  events: ["local", "device", "durable", "adapters", "cli", "research"],
  adapters: ["device", "durable", "cli", "research"],
  durable: ["device", "adapters", "cli", "research"],
  "durable/journal": ["hub", "eventHub", "workers", "device", "adapters", "cli", "research"],
  cli: ["research"], // its commands are loaded when they are called for
};

export default tseslint.config(
  {
    ignores: [
      "dist",
      "packages/*/dist",
      "research/dist",
      "packages/*/build",
      "build",
      "coverage",
      "node_modules",
      "assembly",
      "src/core/wasmBytes.ts",
      "src/core/builtFrom.ts",
      "site/dist",
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["*.js", "scripts/*.js"] } } },
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off", // typed arrays are indexed within checked bounds
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-restricted-properties": [
        "error",
        { object: "Math", property: "random", message: "Only cryptographic randomness decides anything." },
      ],
    },
  },
  ...Object.entries(layers).map(([folder, above]) => ({
    files: [`src/${folder}/**/*.ts`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: above.map((name) => `**/${name}/**`), message: `src/${folder} must not look up.` },
            { regex: "^(\\.\\./)+index\\.js$", message: "The public names are for users, not for us." },
          ],
        },
      ],
    },
  })),
  {
    files: ["src/index.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["./cli/**", "../research/**"], message: "Not part of the library." }] },
      ],
    },
  },
  {
    files: ["site/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^(\\.\\./)+src/",
              message: "The page uses what users have: import from brume and brume-research.",
            },
          ],
        },
      ],
    },
  },
  { files: ["**/*.js"], ...tseslint.configs.disableTypeChecked },
  {
    files: ["scripts/**", "*.js"],
    languageOptions: { globals: { console: "readonly", process: "readonly" } },
  },
  {
    files: ["examples/**/*.js", "site/**/*.js"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...["caches", "document", "fetch", "localStorage", "location", "navigator", "performance"],
          ...["Response", "self", "URL", "Worker"],
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
