/** Dockerfile, compose file, config and Grafana's files fit each other and this package. No image is built here. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { checkConfig } from "../src/config/load.js";
import { startService, temporaryFolder, testConfig } from "./support.js";

const FOLDER = "packages/server/docker";
const read = (file: string): string => readFileSync(join(FOLDER, file), "utf8");
const config = checkConfig(JSON.parse(read("brume.json")));

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** The stages of a Dockerfile. */
function stages(text: string): Instruction[][] {
  const found: Instruction[][] = [];
  for (const line of text.split("\n")) {
    const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === "FROM") found.push([]);
    if (word !== undefined) found.at(-1)!.push({ word, rest: rest! });
  }
  return found;
}
const [build, final] = stages(read("Dockerfile")) as [Instruction[], Instruction[]];
const all = (stage: readonly Instruction[], word: string): string[] =>
  stage.filter((instruction) => instruction.word === word).map(({ rest }) => rest);

interface Compose {
  readonly services: Readonly<
    Record<string, { ports?: string[]; volumes?: string[]; secrets?: string[]; read_only?: boolean }>
  >;
  readonly secrets: object;
  readonly volumes: object;
}
const compose = parse(read("compose.yaml")) as Compose;
const { brume, prometheus, grafana } = compose.services;

test("two stages on one image of a Node that the package allows; the second one is not root", () => {
  const images = [build, final].map((stage) => all(stage, "FROM")[0]!.split(" ")[0]);
  expect(images).toEqual(["node:22-slim", "node:22-slim"]);
  expect(all(final, "USER")).toEqual(["node"]);
  expect(all(final, "RUN").join(" ")).not.toMatch(/npm|apt/);
});

test("everything that runs is copied: the packages' own dependencies, and the link that npm takes away", () => {
  const copied = all(final, "COPY").map((rest) => rest.split(" ")[1]!);
  const nested = existsSync("packages/server/node_modules") ? ["packages/server/node_modules"] : [];
  for (const path of [
    "package.json",
    "dist",
    "node_modules",
    "packages/server/dist",
    "packages/server/proto",
    ...nested,
  ])
    expect(copied).toContain(`/brume/${path}`);
  expect(all(build, "RUN").join(" ")).toMatch(/npm prune --omit=dev .*&& ln -sfn \.\. node_modules\/brume$/);
});

test("ports, folders and secrets of image, compose file and config are the same", () => {
  const port = String(config.listen!.port);
  expect(all(final, "EXPOSE")).toEqual([port]);
  expect(all(final, "HEALTHCHECK")[0]).toContain(`127.0.0.1:${port}/healthz`);
  expect(brume!.ports).toEqual([`${port}:${port}`]);
  const state = (config.store as { sqlite: string }).sqlite;
  const mark = dirname(config.mark!);
  expect(JSON.parse(all(final, "VOLUME")[0]!)).toEqual([state, mark]);
  expect(brume!.volumes).toContain(`state:${state}`);
  expect(brume!.volumes).toContain(`mark:${mark}`);
  expect(Object.keys(compose.volumes)).toEqual(["state", "mark"]);
  const entry = JSON.parse(all(final, "ENTRYPOINT")[0]!) as string[];
  expect(brume!.volumes).toContain(`./brume.json:${entry.at(-1)}:ro`);
  const files = [config.key, config.tokens!.write!].map((secret) => (secret as { file: string }).file);
  expect(files).toEqual(brume!.secrets!.map((name) => `/run/secrets/${name}`));
  expect(Object.keys(compose.secrets)).toEqual(brume!.secrets);
  expect(brume!.read_only).toBe(true);
});

test("Prometheus asks the service, and Grafana asks for metrics that the service has", async () => {
  const { scrape_configs: jobs } = parse(read("prometheus.yaml")) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  expect(jobs[0]!.static_configs[0]!.targets).toEqual([`brume:${config.listen!.port}`]);
  expect(prometheus!.volumes![0]).toContain("prometheus.yaml");
  for (const volume of grafana!.volumes!) expect(existsSync(join(FOLDER, volume.split(":")[0]!))).toBe(true);
  const { app } = await startService(testConfig(temporaryFolder(), { metrics: config.metrics }));
  const known = (await app.inject("/metrics")).body;
  const asked = [...read("grafana/dashboards/brume.json").matchAll(/"expr": "(.*)"/g)].map(
    ([, text]) => text!,
  );
  expect(asked.length).toBeGreaterThan(0);
  for (const expression of asked) {
    const [name] = /brume_\w+/.exec(expression)!;
    expect(known).toContain(`# TYPE ${name} `);
    const [, metric] = /metric=\\"(\w+)\\"/.exec(expression) ?? [];
    if (metric !== undefined) expect(Object.keys(config.metrics)).toContain(metric);
  }
});
