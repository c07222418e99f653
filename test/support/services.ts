/** PostgreSQL, Redis and Prometheus to test with, on loopback: those that are there, or Debian's packages. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { installPackages } from "../../packages/kafka/broker/install.js";

export interface Service {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts Redis; `settings` are those of its configuration file. */
export async function startRedis(settings: Readonly<Record<string, string>>): Promise<Service> {
  const program = await findProgram("redis-server", "redis-server");
  const folder = mkdtempSync(join(tmpdir(), "brume-redis-"));
  const port = await freePort();
  const given = { port: String(port), bind: "127.0.0.1", dir: folder, save: "", ...settings };
  const child = spawn(
    program,
    Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]),
    {
      stdio: "ignore",
    },
  );
  return { port, stop: () => stop(child, folder) };
}

/** Starts Prometheus, which scrapes the targets once a second. */
export async function startPrometheus(targets: readonly string[]): Promise<Service> {
  const program = await findProgram("prometheus", "prometheus");
  const folder = mkdtempSync(join(tmpdir(), "brume-prometheus-"));
  const port = await freePort();
  const config = {
    global: { scrape_interval: "1s" },
    scrape_configs: [{ job_name: "brume", static_configs: [{ targets }] }],
  };
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, JSON.stringify(config)); // YAML includes JSON
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore", cwd: folder },
  );
  return { port, stop: () => stop(child, folder) };
}

/** Starts PostgreSQL with a database "postgres" and a user "brume" that needs no password. @param given settings */
export async function startPostgres(given: readonly string[] = []): Promise<Service> {
  const program = await findProgram("postgres", "postgresql", () =>
    existsSync("/usr/lib/postgresql")
      ? readdirSync("/usr/lib/postgresql").map((version) => `/usr/lib/postgresql/${version}/bin`)
      : [],
  );
  const folder = mkdtempSync(join(tmpdir(), "brume-postgres-"));
  const data = join(folder, "data");
  const template = postgresTemplate(program);
  cpSync(template, data, { recursive: true, preserveTimestamps: true });
  const user = ordinaryUser();
  if (user !== undefined) {
    spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, folder]);
    spawnSync("chmod", ["700", data]);
  }
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=20", ...given];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const child = spawn(program, args, { stdio: "ignore", cwd: folder, ...user });
  return { port, stop: () => stop(child, folder) };
}

/** An empty cluster, made once per machine and copied for each run: making one takes seconds. */
function postgresTemplate(program: string): string {
  const version = /\d+/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout)![0];
  const template = join(tmpdir(), `brume-postgres-template-${version}`);
  if (existsSync(join(template, "PG_VERSION"))) return template;
  const making = mkdtempSync(join(tmpdir(), "brume-postgres-making-"));
  const user = ordinaryUser();
  if (user !== undefined) chownSync(making, user.uid, user.gid);
  const data = join(making, "data");
  const initdb = join(program, "../initdb");
  const made = spawnSync(
    existsSync(initdb) ? initdb : "initdb",
    ["-D", data, "-U", "brume", "-A", "trust", "-N"],
    {
      ...user,
      cwd: making,
      encoding: "utf8",
    },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  try {
    renameSync(data, template);
  } catch (error) {
    if (!existsSync(join(template, "PG_VERSION"))) throw error; // another run made it
  }
  rmSync(making, { recursive: true, force: true });
  return template;
}

/** PostgreSQL does not run as root: then it runs as nobody. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}

/** The path of a program, whose package is installed if it is not there. */
async function findProgram(
  name: string,
  debianPackage: string,
  folders: () => readonly string[] = () => [],
): Promise<string> {
  const find = () =>
    [...folders(), ...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"]
      .map((folder) => join(folder, name))
      .find(existsSync);
  const there = find();
  if (there !== undefined) return there;
  await installPackages(debianPackage);
  const installed = find();
  if (installed !== undefined) return installed;
  throw new Error(
    `${name}: the store tests need it, and it could not be installed; install ${debianPackage}`,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Tries until it succeeds, for at most 30 seconds: a server needs a moment to start. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const start = performance.now(); ;)
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() - start > 30_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}
