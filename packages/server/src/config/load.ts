/** Reads a config file, JSON or TypeScript, and checks it: every mistake at once, each with its path and a remedy. */
import { Ajv, type ErrorObject } from "ajv";
import { createJiti } from "jiti";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Refusal } from "../refusal.js";
import schema from "./brume.schema.json" with { type: "json" };
import { metricProblems } from "./metrics.js";
import type { Config } from "./types.js";

const validate = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<Config>(schema);

export async function loadConfig(path: string): Promise<Config> {
  return checkConfig(await readConfig(path));
}

async function readConfig(path: string): Promise<unknown> {
  if (/\.[cm]?[jt]s$/.test(path)) {
    try {
      return await createJiti(import.meta.url).import(resolve(path), { default: true });
    } catch (cause) {
      throw new Refusal(`config: cannot load ${path}: ${(cause as Error).message}`, { cause });
    }
  }
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Refusal(
      `config: expected a file at ${path}, got none; give another --config, or run: brume serve --init`,
      { cause },
    );
  });
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Refusal(`config: expected JSON in ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** The same object, once it is known to be a config. */
export function checkConfig(config: unknown): Config {
  const problems = validate(config)
    ? metricProblems(config)
    : [...new Set(leaves(validate.errors ?? []).map(inWords))];
  if (problems.length > 0) throw new Refusal(`config: ${problems.join("\nconfig: ")}`);
  return config as Config;
}

/** Of a choice between forms, the mistakes inside the form that came closest say more than the choice itself. */
function leaves(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === "oneOf");
  return errors.filter(
    (error) =>
      error.keyword === "oneOf" ||
      !choices.some(({ instancePath }) => error.instancePath.startsWith(instancePath)),
  );
}

function inWords({ instancePath, keyword, params, message, data, schema: wanted }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll("/", ".") || "the file";
  const given = params as Record<string, unknown>;
  switch (keyword) {
    case "additionalProperties":
      return `${path}: unknown field ${JSON.stringify(given["additionalProperty"])}; remove it, or see brume.schema.json for the fields there are`;
    case "required":
      return `${path}: expected the field ${JSON.stringify(given["missingProperty"])}, got none; add it`;
    case "enum":
      return `${path}: expected one of ${(wanted as unknown[]).join(", ")}, got ${shown(data)}`;
    case "oneOf":
      return `${path}: expected ${formsOf(path)}, got ${shown(data)}`;
    case "pattern":
      return `${path}: expected text like ${String(given["pattern"])}, got ${shown(data)}`;
    default:
      return `${path}: ${message ?? keyword}, got ${shown(data)}`;
  }
}

/** What a field with several forms looks like. */
function formsOf(path: string): string {
  const field = path.split(".").at(-1)!;
  const forms: Readonly<Record<string, string>> = {
    store:
      '{ "sqlite": "./state" } or { "postgres": { "env": "DATABASE_URL" } } or { "kafka": { "brokers": ["host:9092"] } }',
    keys: 'a list of names, or { "prefix": "shop-", "from": 1, "to": 500 }',
    threshold: 'a number above 0, or "noisy-max"',
    holdout: 'a duration such as "10m"; for a local metric a number of reports',
  };
  return forms[field] ?? '{ "env": "NAME" } or { "file": "path" }: secrets do not stand in the file';
}

/** A config is public; long parts of it are cut. */
function shown(data: unknown): string {
  const text = JSON.stringify(data) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
