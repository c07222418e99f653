/** The command `brume serve`. */
import { existsSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { type EventStreamOptions, plan } from "brume";
import { epsilonAdvice, localPrecision, Refusal } from "brume/node";
import type { FastifyInstance } from "fastify";
import { configProblems, loadConfig, readConfig } from "./config/load.js";
import { readKey, readSecret, readToken } from "./config/secrets.js";
import { resolveMetric } from "./config/metrics.js";
import type { Config, MetricConfig, Secret } from "./config/types.js";
import { checkExposure, makeLogger, makeServer } from "./http/server.js";
import { importLog, type ImportOptions, type Log } from "./import/importLog.js";
import { makeKafkaServer } from "./kafka/serve.js";
import { portRefusal } from "./portRefusal.js";
import { Service } from "./service.js";
import { StatsdServer } from "./statsdServer.js";

export interface ServeOptions {
  readonly config: string;
  /** Says what is wrong with the config, and starts nothing. */
  readonly check: boolean;
  /** Writes a config, a key and a token to begin with. */
  readonly init: boolean;
  readonly port?: number;
  /** Says that a clock far after the newest stored time is right. */
  readonly confirmClock?: boolean;
  /** A log that the past is filled from, before the service begins. */
  readonly past?: {
    readonly log: Log;
    readonly timesIn: (zone: string) => Pick<ImportOptions, "from" | "to">;
  };
}

/** The message, if the error is one that may be shown. */
export const shown = (reason: unknown): string | undefined =>
  reason instanceof Refusal ? reason.message : undefined;

export async function runCommand(options: ServeOptions): Promise<void> {
  const { config: path, check, init, port, confirmClock = false, past } = options;
  if (init) return initialise(path);
  if (check) return checkOnly(path, port);
  const config = withPort(await loadConfig(path), port);
  if (past !== undefined) await fillPast(config, past);
  await serve(config, confirmClock);
}

async function fillPast(
  config: Config,
  { log: file, timesIn }: NonNullable<ServeOptions["past"]>,
): Promise<void> {
  if (config.store !== undefined && "kafka" in config.store)
    throw new Refusal(
      "import: expected a store of SQLite or PostgreSQL, got kafka; the cluster keeps the state",
    );
  const log = makeLogger(config.log);
  await importLog(config, file, {
    ...timesIn(config.zone ?? "UTC"),
    onTrouble: (message) => log.error(message),
  });
  log.info("import: the past is filled; what lies between it and now has no numbers");
}

const withPort = (config: Config, port: number | undefined): Config =>
  port === undefined ? config : { ...config, listen: { ...config.listen, port } };

/** Everything that is wrong, at once: in the file, with its secrets, and with what it opens to others. */
async function checkOnly(path: string, port: number | undefined): Promise<void> {
  const config = await readConfig(path);
  const problems = configProblems(config).map((problem) => `config: ${problem}`);
  const { key, tokens, store, metrics = {} } = Object(config) as Partial<Config>;
  const secrets = {
    key,
    "tokens.write": tokens?.write,
    "tokens.read": tokens?.read,
    "tokens.metrics": tokens?.metrics,
  };
  for (const [name, secret] of Object.entries(secrets))
    if (isSecret(secret)) attempt(() => (name === "key" ? readKey(secret) : readToken(name, secret)));
  const database = store !== undefined && "postgres" in store ? store.postgres : undefined;
  if (isSecret(database)) attempt(() => readSecret("store.postgres", database));
  attempt(() => checkExposure(withPort(Object(config) as Config, port)));
  if (problems.length > 0) throw new Refusal(problems.join("\n"));
  const list = Object.entries(metrics).map(
    ([name, { type, epsilon }]) => `${name} (${type}, ε = ${epsilon})`,
  );
  console.log(`${path}: valid. Metrics: ${list.join(", ")}.`);
  for (const [name, metric] of Object.entries(metrics)) {
    const { type, epsilon } = metric;
    console.log(`metrics.${name}: ${type === "local" ? precisionWords(epsilon) : noiseWords(metric)}`);
    for (const line of epsilonAdvice(epsilon)) console.log(`metrics.${name}: ${line}`);
  }

  function attempt(check: () => unknown): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problems.push(error.message);
    }
  }
}

const DAILY_REPORTS = 500;

/** Says how precise a local metric will be, at its ε and at twice that. */
export function precisionWords(epsilon: number): string {
  const within = (own: number, days: number): string =>
    `± ${Math.round(100 * localPrecision(own, DAILY_REPORTS * days))} %`;
  const doubled = Math.min(24, 2 * epsilon);
  return `at ε = ${epsilon} and ${DAILY_REPORTS} page loads a day the mean is known to ${within(epsilon, 1)} a day, ${within(epsilon, 7)} a week; at ε = ${doubled} to ${within(doubled, 1)} and ${within(doubled, 7)}`;
}

/** Says what noise does to the numbers of a metric, before there are any. */
export function noiseWords(config: MetricConfig): string {
  const { options, unit } = resolveMetric("metric", config);
  const { errors, errorsOf, levels } = plan(options as EventStreamOptions);
  const { min, threshold } = config;
  const isKnown = errorsOf === "θ" && min === undefined && typeof threshold === "number";
  const what = isKnown ? `${unit} in the sum` : (TIMES[errorsOf.replace("k · ", "")] ?? errorsOf);
  const reaches = errors
    .filter(({ period }) => levels.includes(period))
    .map(({ period, reach }) => `${period} ± ${Number((reach * (isKnown ? threshold : 1)).toPrecision(2))}`);
  const times = errorsOf.startsWith("k · ") ? ", times k" : "";
  return `noise with 95 % probability: ${reaches.join(", ")} ${what}${times}`;
}

/** Units that numbers are a multiple of. */
const TIMES: Readonly<Record<string, string>> = {
  θ: "times what one event may add, in the sum",
  "a person's sum": "times what a person may add",
};

/** Whether a part of a config that may be wrong elsewhere says where a secret is. */
const isSecret = (part: unknown): part is Secret =>
  ["env", "file"].some((field) => typeof (Object(part) as Record<string, unknown>)[field] === "string");

/** Milliseconds that requests have to end; all of the stop takes less than twice that. */
const PATIENCE = 5_000;

/** Events go to a cluster; nothing is kept here. */
async function serveKafka(config: Config): Promise<void> {
  const log = makeLogger(config.log);
  let fail: (reason: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined); // it is awaited below
  const app = await makeKafkaServer(config, log, undefined, fail);
  await closingAfter([() => close(app)], async () => {
    await listen(app, config);
    log.info({ signal: await Promise.race([stopSignal(), failed]) }, "stopping: no new requests");
  });
}

async function serve(config: Config, confirmClock: boolean): Promise<void> {
  if (config.store !== undefined && "kafka" in config.store) return serveKafka(config);
  const log = makeLogger(config.log);
  const service = await Service.open(config, {
    confirmClock,
    onTrouble: (message) => log.error(message),
  });
  const closers = [() => service.stop()];
  await closingAfter(closers, async () => {
    const app = await makeServer(service, log);
    closers.unshift(() => close(app));
    await listen(app, config);
    const { statsd: udp } = config;
    if (udp !== undefined) {
      const statsd = await StatsdServer.open(service, udp.host ?? "127.0.0.1", udp.port);
      closers.unshift(() => statsd.close());
    }
    const failed = new Promise<never>((_, reject) => service.onEnd(reject));
    const signal = await Promise.race([stopSignal(), failed]);
    log.info({ signal }, "stopping: no new requests; what was received is stored");
  });
  log.info("stopped: everything is stored");
}

/**
 * Runs, then closes everything in turn, also when running failed. The process ends, even if something does not close: what was
 * acknowledged is stored, and whoever supervises it starts it again.
 */
async function closingAfter(
  closers: readonly (() => Promise<unknown>)[],
  run: () => Promise<void>,
): Promise<void> {
  const endSoon = (): unknown => setTimeout(() => process.exit(1), 2 * PATIENCE - 500).unref();
  try {
    await run();
  } catch (reason) {
    endSoon();
    for (const closer of [...closers]) await closer().catch(() => undefined);
    throw reason;
  }
  endSoon();
  for (const closer of [...closers]) await closer();
}

const stopSignal = (): Promise<string> =>
  new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });

/** Requests that run are answered, for a while. */
async function close(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), PATIENCE);
  await app.close();
  clearTimeout(timer);
}

async function listen(app: FastifyInstance, config: Config): Promise<void> {
  const { host = "127.0.0.1", port = 8787 } = config.listen ?? {};
  await app.listen({ host, port }).catch((cause: unknown) => {
    throw portRefusal(cause, "listen", host, port, ", or start with --port");
  });
}

const EXAMPLE: Config = {
  $schema: "./node_modules/brume-server/src/config/brume.schema.json",
  epsilon: 1,
  zone: "UTC",
  key: { file: "brume.key" },
  tokens: { write: { file: "brume.token" } },
  store: { sqlite: "./state" },
  metrics: {
    requests: {
      type: "count",
      epsilon: 0.5,
      every: "1m",
      levels: ["1m", "1h", "1d"],
      perPerson: 5,
      keys: ["home", "search", "checkout"],
    },
    latency: {
      type: "histogram",
      epsilon: 0.5,
      every: "1h",
      perPerson: 5,
      unit: "ms",
      min: 1,
      max: 10_000,
      keys: ["home", "search", "checkout"],
    },
  },
};

function initialise(path: string): void {
  for (const file of [path, "brume.key", "brume.token"])
    if (existsSync(file))
      throw new Refusal(`config: expected no file at ${file} yet, got one; remove it first`);
  const secret = { mode: 0o600, flag: "wx" };
  writeFileSync("brume.key", `${randomBytes(32).toString("base64")}\n`, secret);
  writeFileSync("brume.token", `${randomBytes(24).toString("hex")}\n`, secret);
  writeFileSync(path, `${JSON.stringify(EXAMPLE, null, 2)}\n`, { flag: "wx" });
  console.log(`Wrote ${path}, brume.key and brume.token. Keep the key secret, and never in the same place as backups of the state.
How exact:    brume serve --config ${path} --check
Start it:     brume serve --config ${path}
Send events:  curl -X POST http://127.0.0.1:8787/v1/events -H "authorization: Bearer $(cat brume.token)" \\
                -H "content-type: application/json" -d '{"events":[{"metric":"requests","key":"home","person":"u-17"}]}'`);
}
