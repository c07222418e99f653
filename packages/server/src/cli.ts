/** What `brume serve` does. */
import { existsSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { loadConfig } from "./config/load.js";
import { readKey } from "./config/secrets.js";
import type { Config } from "./config/types.js";
import { makeLogger, makeServer } from "./http/server.js";
import { tokensOf } from "./http/app.js";
import { makeKafkaServer } from "./kafka/serve.js";
import { Refusal } from "./refusal.js";
import { Service } from "./service.js";
import { StatsdServer } from "./statsd.js";

export interface ServeOptions {
  readonly config: string;
  /** Says what is wrong with the config, and starts nothing. */
  readonly check: boolean;
  /** Writes a config and a key to begin with. */
  readonly init: boolean;
  readonly port?: number;
}

/** The message, if the error is one that may be shown. */
export const shown = (reason: unknown): string | undefined =>
  reason instanceof Refusal ? reason.message : undefined;

export async function runCommand({ config: path, check, init, port }: ServeOptions): Promise<void> {
  if (init) return initialise(path);
  const read = await loadConfig(path);
  const config = port === undefined ? read : { ...read, listen: { ...read.listen, port } };
  if (check) return checkOnly(path, config);
  await serve(config);
}

function checkOnly(path: string, config: Config): void {
  readKey(config.key);
  tokensOf(config);
  const metrics = Object.entries(config.metrics).map(
    ([name, { type, epsilon }]) => `${name} (${type}, ε = ${epsilon})`,
  );
  console.log(`${path}: it is right. Metrics: ${metrics.join(", ")}.`);
}

/** Events go to a cluster; nothing is kept here. */
async function serveKafka(config: Config): Promise<void> {
  const log = makeLogger(config.log);
  const app = await makeKafkaServer(config, log);
  const { host = "127.0.0.1", port = 8787 } = config.listen ?? {};
  await app.listen({ host, port });
  await new Promise<void>((resolve, reject) => {
    const stop = (signal: string): void => {
      log.info({ signal }, "stopping: no new requests");
      app.close().then(resolve, reject);
    };
    process.once("SIGTERM", stop);
    process.once("SIGINT", stop);
  });
}

async function serve(config: Config): Promise<void> {
  if (config.store !== undefined && "kafka" in config.store) return serveKafka(config);
  const log = makeLogger(config.log);
  const service = await Service.open(config, { onTrouble: (message) => log.error(message) });
  const app = await makeServer(service, log).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  const { host = "127.0.0.1", port = 8787 } = config.listen ?? {};
  await app.listen({ host, port });
  const { statsd: udp } = config;
  const statsd = udp && (await StatsdServer.open(service, udp.host ?? "127.0.0.1", udp.port));
  await new Promise<void>((resolve, reject) => {
    const stop = (signal: string): void => {
      log.info({ signal }, "stopping: no new requests; what was received is stored");
      Promise.all([app.close(), statsd?.close()])
        .then(() => service.stop())
        .then(resolve, reject);
    };
    process.once("SIGTERM", stop);
    process.once("SIGINT", stop);
    service.engine.onEnd(reject);
  });
  log.info("stopped: everything is stored");
}

const EXAMPLE: Config = {
  $schema: "./node_modules/brume-server/brume.schema.json",
  epsilon: 1,
  key: { file: "brume.key" },
  store: { sqlite: "./state" },
  metrics: {
    requests: { type: "count", epsilon: 0.3, perPerson: 20, keys: ["home", "search", "checkout"] },
    latency: {
      type: "histogram",
      epsilon: 0.7,
      perPerson: 20,
      unit: "ms",
      min: 1,
      max: 10_000,
      keys: ["home", "search", "checkout"],
    },
  },
};

function initialise(path: string): void {
  for (const file of [path, "brume.key"])
    if (existsSync(file))
      throw new Refusal(`config: expected no file at ${file} yet, got one; remove it first`);
  writeFileSync("brume.key", `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  writeFileSync(path, `${JSON.stringify(EXAMPLE, null, 2)}\n`);
  console.log(`Wrote ${path} and brume.key. Keep the key secret, and never in the same place as backups of the state.
Start it:  brume serve --config ${path}`);
}
