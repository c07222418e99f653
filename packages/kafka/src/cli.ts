/** The actions of `brume kafka ACTION FILE`. */
import { Refusal } from "brume/node";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { errorCode } from "./kafka/connections.js";
import { kafkaPort } from "./kafka/kafkaPort.js";
import type { Port } from "./port.js";
import { PublishedTwice, readPublishedFrom } from "./readPublished.js";
import { rekey } from "./rekey.js";
import { runClock } from "./clock.js";
import { beatLength, clockRules } from "./streams.js";
import { topicPlan, topicProblems } from "./topics.js";
import { type KafkaWorkerOptions, makeWorker } from "./worker.js";

/** The file: a worker's options, with the keys in files of their own (32 bytes, or 64 hexadecimal digits). */
export interface ClusterFile extends Omit<KafkaWorkerOptions, "key" | "values" | "onError" | "sasl"> {
  readonly values?: "json" | "float64" | "float32";
  readonly partitions?: number;
  readonly keys: Readonly<Record<string, string>>;
  /** Name of the key that encrypts; default: the last one. */
  readonly currentKey?: string;
  /** SASL, with the password in a file. */
  readonly sasl?: {
    readonly mechanism: "PLAIN" | "SCRAM-SHA-256" | "SCRAM-SHA-512";
    username: string;
    passwordFile: string;
  };
}

type Action = (
  port: Port,
  options: KafkaWorkerOptions,
  file: ClusterFile,
  signal: AbortSignal,
) => Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  topics: async (port, options, { partitions = 12 }) => {
    await port.create(topicPlan(options, partitions, options));
    console.log(`made ${options.in}, ${options.state} and ${options.out} with ${partitions} partitions each`);
  },
  check: async (port, options) => {
    const names = [
      options.in,
      options.state,
      options.out,
      ...(options.deadLetters ? [options.deadLetters] : []),
    ];
    const problems = topicProblems(await port.describe(names), options, options);
    if (problems.length > 0) throw new Refusal(`topics: not safe\n  ${problems.join("\n  ")}`);
    console.log("the topics are safe");
  },
  run: async (port, options, _, signal) => {
    const worker = makeWorker(port, {
      ...options,
      onError: (error, partition) => console.error(`partition ${partition}: ${shown(error) ?? error.name}`),
    });
    await worker.start();
    const report = setInterval(() => console.log(JSON.stringify(worker.stats())), 10_000);
    await aborted(signal);
    clearInterval(report);
    await worker.stop();
    console.log(JSON.stringify(worker.stats()));
  },
  clock: async (port, options, _, signal) => {
    await runClock(port, options.in, beatLength(options.stream), signal, clockRules(options.stream).zone);
  },
  read: async (port, { out, format = "json" }, _, signal) => {
    for await (const published of readPublishedFrom(port, { topic: out, format, signal }))
      console.log(JSON.stringify(published));
  },
  rekey: async (port, options) => {
    console.log(`${await rekey(port, options)} streams were encrypted under the current key`);
  },
};

/** @throws Refusal, RangeError or TypeError with a message that may be shown */
export async function runCommand(action: string, path: string): Promise<void> {
  if (!Object.hasOwn(ACTIONS, action))
    throw new RangeError(
      `action: expected ${Object.keys(ACTIONS).join(", ")}, got ${JSON.stringify(action)}`,
    );
  const { options, file } = await readClusterFile(path);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const port = kafkaPort(options);
  try {
    await ACTIONS[action]!(port, options, file, stop.signal);
  } finally {
    await port.close();
  }
}

/** Advice for a person, by the error code of the broker. */
const ADVICE: Readonly<Record<string, string>> = {
  UNKNOWN_TOPIC_OR_PARTITION: "a topic is missing; run: brume kafka topics FILE",
  TOPIC_ALREADY_EXISTS: "a topic of that name is there already; run: brume kafka check FILE",
  INVALID_REPLICATION_FACTOR:
    'the cluster has fewer than 3 brokers; add brokers, or set "development": true on a laptop',
  TOPIC_AUTHORIZATION_FAILED: "this user may not use a topic; give it the right",
  MESSAGE_TOO_LARGE:
    "the state of a key is too large for the topic; raise max.message.bytes of the state topic, or take a longer every or fewer buckets",
  SASL_AUTHENTICATION_FAILED: 'the login was refused; look at "sasl"',
};

/** Errors about the cluster hold names of topics and offsets, and nothing of the data. */
export function shown(reason: unknown): string | undefined {
  if (reason instanceof Refusal || reason instanceof PublishedTwice) return reason.message;
  const code = errorCode(reason);
  if (code !== undefined)
    return `the broker answered ${code}${Object.hasOwn(ADVICE, code) ? `: ${ADVICE[code]}` : ""}`;
  return (reason as { code?: string }).code === "PLT_KFK_NETWORK"
    ? `brokers: expected one that answers, got none; ${(reason as Error).message.replace(/\.$/, "")}`
    : undefined;
}

export async function readClusterFile(
  path: string,
): Promise<{ options: KafkaWorkerOptions; file: ClusterFile }> {
  const file = parse(await readFile(path, "utf8"), path);
  checkFields(file, path);
  const inFolder = (name: string) => readFile(resolve(dirname(path), name));
  const entries = Object.entries(file.keys ?? {});
  const keys = Object.fromEntries(
    await Promise.all(
      entries.map(async ([id, name]): Promise<[string, Buffer]> => [id, keyBytes(await inFolder(name))]),
    ),
  );
  const current = file.currentKey ?? entries.at(-1)?.[0];
  if (current === undefined) throw new TypeError(`${path}: expected "keys" with at least one file, got none`);
  const { keys: _, currentKey: __, partitions: ___, sasl, ...rest } = file;
  const login = sasl && {
    sasl: {
      ...{ mechanism: sasl.mechanism, username: sasl.username },
      password: (await inFolder(sasl.passwordFile)).toString().trim(),
    },
  };
  return { options: { ...rest, ...login, key: { current, keys } }, file };
}

function parse(text: string, path: string): ClusterFile {
  try {
    return JSON.parse(text) as ClusterFile;
  } catch {
    throw new TypeError(`${path}: expected JSON`);
  }
}

/** The fields without which nothing works; the worker checks the others. */
function checkFields(file: Partial<ClusterFile>, path: string): void {
  const isName = (value: unknown) => typeof value === "string" && value !== "";
  const want = (name: keyof ClusterFile, ok: boolean, what: string) => {
    if (!ok)
      throw new TypeError(
        `${path}: expected "${name}" with ${what}, got ${JSON.stringify(file[name]) ?? "none"}`,
      );
  };
  if (typeof file !== "object" || file === null) throw new TypeError(`${path}: expected a JSON object`);
  const { brokers, stream } = file;
  want(
    "brokers",
    Array.isArray(brokers) && brokers.length > 0 && brokers.every(isName),
    "addresses (host:port)",
  );
  for (const name of ["group", "in", "state", "out"] as const) want(name, isName(file[name]), "a name");
  want("stream", typeof stream === "object" && stream !== null, "the options of a stream (epsilon, max)");
}

function keyBytes(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1").trim();
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : bytes;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener("abort", () => done(), { once: true }));
}
