/** A real Kafka broker (or three) on this machine, for tests, benches and examples. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { java } from "./install.js";
import { kafkaJars } from "./jars.js";
import { type Proxy, startProxy } from "./proxy.js";

export interface ClusterOptions {
  /** 1 or 3. With 3, all internal topics have three replicas and need two. Default 1. */
  readonly brokers?: number;
  /** More lines for every broker's properties. */
  readonly properties?: Readonly<Record<string, string>>;
  /** A folder for the data of one broker, by its index; default: a folder of its own under the system's temporary one. */
  readonly dataFolder?: (index: number) => string | undefined;
}

export interface Node {
  readonly id: number;
  readonly address: string;
  /** A proxy to the broker, whose connections can be cut. */
  readonly proxy: Proxy;
  readonly data: string;
  readonly log: string;
  readonly pid: number | undefined;
  start(): Promise<void>;
  /** Ends the process at once, as a power cut does. */
  kill(): Promise<void>;
}

export interface Cluster {
  readonly brokers: readonly string[];
  /** Addresses of the brokers' proxies. */
  readonly proxied: readonly string[];
  readonly nodes: readonly Node[];
  /** Stops all brokers and removes their data. */
  stop(): Promise<void>;
}

const HEAP = { one: "-Xmx256m", three: "-Xmx384m" };
/** A broker on two busy cores needs 4 to 30 seconds; this limit is for one that hangs. */
const START_LIMIT = 120_000;

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const count = options.brokers ?? 1;
  const jars = await kafkaJars();
  const command = await java();
  const folder = await mkdtemp(join(tmpdir(), "brume-kafka-"));
  const id = `b${randomBytes(16).toString("base64url").slice(1)}`; // a leading "-" would be taken for an option
  const ports = await freePorts(3 * count);
  const proxies = await Promise.all(
    Array.from({ length: count }, (_, index) => startProxy(ports[3 * index + 2]!)),
  );
  const nodes = proxies.map((proxy, index) => {
    const log = join(folder, `broker-${index + 1}.log`);
    const data = options.dataFolder?.(index) ?? join(folder, `data-${index + 1}`);
    return new BrokerProcess(index, ports, { ...options, command, jars, folder, log, data, id, proxy });
  });
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  const [brokers, proxied] = [nodes.map(({ address }) => address), proxies.map(({ address }) => address)];
  return { brokers, proxied, nodes, stop };
}

interface Setting extends ClusterOptions {
  readonly command: string;
  readonly jars: string;
  readonly folder: string;
  readonly log: string;
  readonly data: string;
  readonly id: string;
  readonly proxy: Proxy;
}

class BrokerProcess implements Node {
  readonly id: number;
  readonly address: string;
  readonly log: string;
  readonly proxy: Proxy;
  readonly data: string;
  readonly #setting: Setting;
  readonly #properties: string;
  readonly #file: string;
  #process: ChildProcess | undefined;
  #formatted = false;

  constructor(index: number, ports: readonly number[], setting: Setting) {
    this.id = index + 1;
    this.address = `127.0.0.1:${ports[3 * index]}`;
    this.log = setting.log;
    this.proxy = setting.proxy;
    this.data = setting.data;
    this.#setting = setting;
    this.#file = join(setting.folder, `broker-${this.id}.properties`);
    this.#properties = propertiesOf(index, ports, setting);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    const { command, jars, id, data } = this.#setting;
    const classPath = ["-cp", join(jars, "*")];
    if (!this.#formatted) {
      await mkdir(data, { recursive: true });
      await writeFile(this.#file, this.#properties);
      const format = ["kafka.tools.StorageTool", "format", "-t", id, "-c", this.#file, "--ignore-formatted"];
      await promisify(execFile)(command, ["-XX:TieredStopAtLevel=1", ...classPath, ...format]);
      this.#formatted = true;
    }
    const log = createWriteStream(this.log, { flags: "a" });
    const memory = ["-Xms64m", this.#setting.brokers === 3 ? HEAP.three : HEAP.one, "-XX:+UseSerialGC"];
    const child = spawn(
      command,
      [...memory, "-XX:TieredStopAtLevel=1", ...classPath, "kafka.Kafka", this.#file],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    this.#process = child;
    const limit = Date.now() + START_LIMIT;
    while (!(await listens(this.address))) {
      if (child.exitCode !== null || Date.now() > limit)
        throw new Error(
          `broker ${this.id} did not start:\n${(await readFile(this.log, "utf8")).slice(-2000)}`,
        );
      await sleep(100);
    }
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
}

function propertiesOf(
  index: number,
  ports: readonly number[],
  { brokers = 1, data, properties, proxy }: Setting,
): string {
  const voters = Array.from({ length: brokers }, (_, i) => `${i + 1}@127.0.0.1:${ports[3 * i + 1]}`);
  const minimum = brokers === 3 ? 2 : 1;
  const [direct, controller, behindProxy] = ports.slice(3 * index, 3 * index + 3);
  const lines: Record<string, string | number> = {
    "process.roles": "broker,controller",
    "node.id": index + 1,
    listeners: `PLAINTEXT://127.0.0.1:${direct},CONTROLLER://127.0.0.1:${controller},PROXIED://127.0.0.1:${behindProxy}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${direct},PROXIED://${proxy.address}`,
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": voters.join(","),
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT",
    "log.dirs": data,
    "auto.create.topics.enable": "false",
    "default.replication.factor": brokers,
    "min.insync.replicas": minimum,
    "unclean.leader.election.enable": "false",
    "offsets.topic.replication.factor": brokers,
    "transaction.state.log.replication.factor": brokers,
    "transaction.state.log.min.isr": minimum,
    "share.coordinator.state.topic.replication.factor": brokers,
    "share.coordinator.state.topic.min.isr": minimum,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    ...properties,
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

async function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Ports that were free a moment ago, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
