/** Reads a config file, JSON or TypeScript, and checks it: every mistake at once, each with its path and a remedy. */
import { Refusal } from "brume/node";
import { Ajv, type ErrorObject } from "ajv";
import { privateCounter } from "brume";
import { createJiti } from "jiti";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import schema from "./brume.schema.json" with { type: "json" };
import { metricProblems } from "./metrics.js";
import type { Config } from "./types.js";

const validate = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<Config>(schema);

export async function loadConfig(path: string): Promise<Config> {
  return checkConfig(await readConfig(path));
}

/** The file as it is, not checked. */
export async function readConfig(path: string): Promise<unknown> {
  if (/\.[cm]?[jt]s$/.test(path)) {
    try {
      // No cache on disk: by default it is in the shared temporary folder, where others of this machine may write.
      const jiti = createJiti(import.meta.url, { fsCache: false, moduleCache: false });
      return await jiti.import(resolve(path), { default: true });
    } catch (cause) {
      throw new Refusal(`config: cannot load ${path}: ${loadProblem(cause)}`, { cause });
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
    throw new Refusal(`config: expected JSON in ${path}, got a mistake${placeOf(text, cause)}; correct it`, {
      cause,
    });
  }
}

/** " in line 3, column 7". The parser's own message quotes the file, which may hold a secret by mistake. */
function placeOf(text: string, cause: unknown): string {
  const [, position] = /position (\d+)/.exec((cause as Error).message) ?? [];
  if (position === undefined) return text.trim() === "" ? ": it is empty" : " at its end";
  const before = text.slice(0, Number(position)).split("\n");
  return ` in line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** An error that a program throws of its own has its message. One of the engine has only its place: the message quotes the program. */
function loadProblem(cause: unknown): string {
  const { name, message, stack = "" } = Object(cause) as Error;
  const isSyntax = name === "SyntaxError" || /ParseError|SyntaxError/.test(message);
  if (!isSyntax && !/^(?:Reference|Type|Range|URI)Error$/.test(name)) return message;
  const [, line, column] = /[:(](\d+):(\d+)/.exec(isSyntax ? message : stack.replace(message, "")) ?? [];
  const what = isSyntax ? "a mistake" : `a mistake (${name})`;
  return line === undefined ? what : `${what} in line ${line}, column ${column}`;
}

/** Gives the object back once it is known to be a config. */
export function checkConfig(config: unknown): Config {
  const problems = configProblems(config);
  if (problems.length > 0) throw new Refusal(`config: ${problems.join("\nconfig: ")}`);
  return config as Config;
}

/** Everything that is wrong: parts that the schema accepts are looked at closely, whatever is wrong with others. */
export function configProblems(config: unknown): string[] {
  if (validate(config)) return metricProblems(config);
  const errors = validate.errors ?? [];
  const { metrics, epsilon, zone } = Object(config) as Partial<Config>;
  const isWrong = (path: string): boolean =>
    errors.some(({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`));
  const right = Object.entries(
    isWrong("/metrics") && typeof metrics !== "object" ? {} : (metrics ?? {}),
  ).filter(([name]) => !isWrong(`/metrics/${name}`));
  const limit = typeof epsilon === "number" && !isWrong("/epsilon") ? epsilon : Infinity;
  return [
    ...new Set(leaves(errors).map(inWords)),
    ...metricProblems({
      ...{ key: { env: "UNUSED" }, epsilon: limit, metrics: Object.fromEntries(right) },
      ...(typeof zone === "string" && !isWrong("/zone") ? { zone } : {}),
    }),
  ];
}

/** Mistakes inside the form that came closest: they say more than the choice between forms. */
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
      if (path.startsWith("metrics.") && formerOption(String(given["additionalProperty"])) !== undefined)
        return `${path}.${formerOption(String(given["additionalProperty"]))}`;
      return `${path}: unknown field ${JSON.stringify(given["additionalProperty"])}; remove it, or see brume.schema.json for the fields there are`;
    case "required":
      return `${path}: expected the field ${JSON.stringify(given["missingProperty"])}, got none; add it`;
    case "enum":
      return `${path}: expected one of ${(wanted as unknown[]).join(", ")}, got ${shown(path, data)}`;
    case "oneOf":
      return `${path}: expected ${formsOf(path)}, got ${shown(path, data)}`;
    case "pattern":
      return `${path}: expected text like ${String(given["pattern"])}, got ${shown(path, data)}`;
    default:
      return `${path}: ${message ?? keyword}, got ${shown(path, data)}`;
  }
}

/** The library's message on an option of earlier versions; undefined for any other name. */
function formerOption(name: string): string | undefined {
  try {
    privateCounter({ epsilon: 1, every: "1h", [name]: 0 });
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.includes("no longer an option") ? message : undefined;
  }
}

/** The forms that a field may take, in words. */
function formsOf(path: string): string {
  const field = path.split(".").at(-1)!;
  const forms: Readonly<Record<string, string>> = {
    store:
      '{ "sqlite": "./state" } or { "postgres": { "env": "DATABASE_URL" } } or { "kafka": { "brokers": ["host:9092"] } }',
    keys: 'a list of names, or { "prefix": "shop-", "from": 1, "to": 500 }',
    threshold: 'a number, or "noisy-max"',
    holdout: 'a duration such as "1d"',
    perPerson:
      'a number of events, or { "events": 5, "perHour": 1 }, or { "events": "choose" }, or { "sum": 100 }',
  };
  return forms[field] ?? '{ "env": "NAME" } or { "file": "path" }: secrets do not stand in the file';
}

/** Fields that hold a secret if somebody writes it where its name belongs. */
const SECRET = /^(key|tokens|store)(\.|$)/;

/** A value of the config in a message. What may be a secret, or hold one, is not repeated. */
function shown(path: string, data: unknown): string {
  if (Array.isArray(data)) return "a list";
  if (typeof data === "object" && data !== null) return "an object";
  if (SECRET.test(path)) return `a ${typeof data}`;
  const text = JSON.stringify(data) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
