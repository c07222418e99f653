/** The server of Kafka mode: events in, a clock for the workers, health. Numbers are read from the topics `out`. */
import { Refusal } from "brume/node";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { metricsOf } from "../config/metrics.js";
import type { Config } from "../config/types.js";
import { prepare } from "../http/app.js";
import { documentOf, documentRoute } from "../http/document.js";
import { eventRoutes } from "../http/events.js";
import { guardLoopback } from "../http/guard.js";
import { operationRoutes } from "../http/operation.js";
import { otlpRoutes } from "../http/otlp.js";
import { emptyServer } from "../http/server.js";
import { limitsOf } from "../config/limits.js";
import { WorkTurns } from "../workTurns.js";
import { KafkaIntake, kafkaOf, type KafkaPort, type NewRecord, topicsOf } from "./kafkaIntake.js";

/** Functions of brume-kafka that are used here. */
export interface KafkaPackage {
  readonly kafkaPort: (options: { readonly brokers: readonly string[] }) => KafkaPort;
  readonly heartbeat: (time: number) => NewRecord;
  /** Writes heartbeats, which close periods, until it is stopped. */
  readonly runClock: (port: KafkaPort, topic: string, every: number, signal: AbortSignal) => Promise<void>;
}

const PACKAGE = "brume-kafka"; // a name, not an import: it may be missing

async function load(): Promise<KafkaPackage> {
  return (await import(PACKAGE).catch((cause: unknown) => {
    throw new Refusal(
      "store.kafka: expected the package brume-kafka, got none; run: npm install brume-kafka",
      {
        cause,
      },
    );
  })) as KafkaPackage;
}

/**
 * A server whose `close` ends the clock and the connections too.
 * @param onEnd called if no periods are closed any more: start it again
 */
export async function makeKafkaServer(
  config: Config,
  logger: Logger,
  given?: KafkaPackage,
  onEnd?: (reason: Error) => void,
): Promise<FastifyInstance> {
  const { kafkaPort, heartbeat, runClock } = given ?? (await load());
  const limits = limitsOf(config);
  const app = emptyServer({ config, limits }, logger);
  guardLoopback(app, config);
  const port = kafkaPort({ brokers: kafkaOf(config).brokers });
  const intake = await KafkaIntake.open(config, port, heartbeat, limits.remember).catch(
    async (error: unknown) => {
      await port.close();
      throw error;
    },
  );
  const metrics = metricsOf(config);
  const turns = new WorkTurns();
  await prepare(app, { config, limits }, documentOf(metrics.map((config) => ({ config }))));
  await app.register((routes: FastifyInstance) => {
    eventRoutes(routes, { intake, limits, turns });
    otlpRoutes(routes, { intake, limits, turns });
    operationRoutes(routes, intake);
    documentRoute(routes, () => app.swagger());
    return Promise.resolve();
  });
  const stop = new AbortController();
  const clocks = metrics.map(({ name, every }) =>
    runClock(port, topicsOf(config, name).in, every, stop.signal).catch(() => {
      intake.failure ??=
        "store: the brokers take no heartbeats, so no periods are closed; check them, then start again";
      logger.error(intake.failure);
      onEnd?.(new Refusal(intake.failure));
    }),
  );
  app.addHook("onClose", async () => {
    stop.abort();
    await Promise.all(clocks);
    await intake.close().catch(() => undefined);
    await port.close();
  });
  return app;
}
