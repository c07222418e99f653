/** A service for tests: a folder of its own, a key, and a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterEach } from "vitest";
import type { Config } from "../src/config/types.js";
import type { ClockSource } from "../src/clock.js";
import { makeLogger, makeServer } from "../src/http/server.js";
import { Service } from "../src/service.js";

export const KEY = new Uint8Array(32).fill(7);
export const START = Date.UTC(2026, 2, 1, 12);

/** Time passes when the test says so. */
export class TestClock implements ClockSource {
  #wall = START;
  #steady = 0;
  wall = (): number => this.#wall;
  steady = (): number => this.#steady;

  pass(milliseconds: number): void {
    this.#wall += milliseconds;
    this.#steady += milliseconds;
  }

  /** Somebody sets the clock of the machine. */
  jump(milliseconds: number): void {
    this.#wall += milliseconds;
  }
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export const atEnd = (clean: () => unknown): void => void cleanups.push(clean);

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "brume-server-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  atEnd(() => rmSync(`${folder}.mark`, { force: true }));
  return folder;
}

/** One number a second, and no other level: as little noise as there can be. */
export const SECONDS = { every: "1s", levels: ["1s"], lateness: "0s" } as const;

export const METRICS: Config["metrics"] = {
  requests: { type: "count", epsilon: 10, perPerson: 2, keys: ["a", "b"], ...SECONDS },
  basket: { type: "mean", epsilon: 10, max: 100, threshold: 100, perPerson: 2, ...SECONDS },
  latency: {
    ...{ type: "histogram", epsilon: 10, perPerson: 2, ...SECONDS },
    ...{ min: 1, max: 1000, buckets: 8, unit: "ms" },
  },
};

export function testConfig(folder: string, more: Partial<Config> = {}): Config {
  return {
    epsilon: 30,
    key: { env: "UNUSED" },
    store: { sqlite: folder },
    limits: { commitEvery: 0 },
    metrics: METRICS,
    log: "silent",
    ...more,
  };
}

export interface Running {
  readonly service: Service;
  readonly app: FastifyInstance;
  readonly clock: TestClock;
  stop(): Promise<void>;
}

export async function startService(config: Config, clock = new TestClock()): Promise<Running> {
  const service = await Service.open(config, { key: KEY, clock });
  const app = await makeServer(service, makeLogger(config.log));
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= app.close().then(() => service.stop()));
  atEnd(stop);
  return { service, app, clock, stop };
}

export const send = (app: FastifyInstance, events: readonly object[], headers: Record<string, string> = {}) =>
  app.inject({ method: "POST", url: "/v1/events", headers, payload: { events } });

/** Time passes, and the service closes periods. */
export async function pass({ service, clock }: Running, milliseconds: number): Promise<void> {
  clock.pass(milliseconds);
  await service.flush();
}

/** The address of a service that listens on a free port. */
export const listen = ({ app }: Pick<Running, "app">): Promise<string> =>
  app.listen({ host: "127.0.0.1", port: 0 });

/** Publishes so many periods of a second each. */
export async function publish(running: Running, periods: number): Promise<void> {
  for (let i = 0; i < periods; i++) await pass(running, 1000);
}
