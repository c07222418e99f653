/**
 * Attacks every route with requests made from the service's own OpenAPI document: schemathesis, from PyPI, in a
 * virtual environment that is kept in ~/.cache/brume. `npm run fuzz -- service [--examples 300 --seed 1]`
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { type Config, makeLogger, makeServer, Service } from "../src/index.js";

const VERSION = "4.32.5";
const { values: given } = parseArgs({
  options: { examples: { type: "string", default: "300" }, seed: { type: "string", default: "1" } },
});

/** The program, installed if it is not there yet. */
function schemathesis(): string {
  const home = join(homedir(), ".cache/brume", `schemathesis-${VERSION}`);
  const program = join(home, "bin/schemathesis");
  if (existsSync(program)) return program;
  for (const [command, ...args] of [
    ["python3", "-m", "venv", home],
    [join(home, "bin/pip"), "install", "--quiet", `schemathesis==${VERSION}`],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: "inherit" });
    if (status !== 0) throw new Error(`${command}: expected it to succeed; install Python 3.10 or later`);
  }
  return program;
}

const TOKEN = "a-token-for-the-attacker-1";
process.env["BRUME_FUZZ_TOKEN"] = TOKEN;
const token = { env: "BRUME_FUZZ_TOKEN" };
const folder = mkdtempSync(join(tmpdir(), "brume-fuzz-"));
const seconds = { every: "1s", lateness: "0s" } as const;
const config: Config = {
  epsilon: 5,
  key: { env: "NOT_USED" },
  store: { sqlite: folder },
  tokens: { read: token, write: token },
  limits: { perMinute: 0, commitEvery: 1 },
  metrics: {
    requests: { type: "count", epsilon: 1, perPerson: 10, keys: ["a", "b"], ...seconds },
    basket: { type: "mean", epsilon: 1, max: 100, threshold: 100, protect: "event", ...seconds },
    latency: { type: "histogram", epsilon: 1, perPerson: 10, min: 1, max: 1000, ...seconds },
    pageload: { type: "local", epsilon: 1, max: 1000 },
  },
};

const troubles: string[] = [];
const logger = pino(
  { level: "warn", serializers: makeLogger("silent")[pino.symbols.serializersSym as never] },
  { write: (line: string) => void troubles.push(line) },
);
const service = await Service.open(config, { key: new Uint8Array(32).fill(3) });
const app = await makeServer(service, logger);
const url = await app.listen({ host: "127.0.0.1", port: 0 });

const args = [
  ...["--config-file", fileURLToPath(new URL("schemathesis.toml", import.meta.url))],
  "run",
  `${url}/openapi.json`,
  // It never ends, so a client that waits for its end waits for ever; packages/server/test/ways.test.ts reads it.
  ...["--exclude-path", "/v1/live"],
  ...["--max-examples", given.examples, "--seed", given.seed],
  ...["--header", `Authorization: Bearer ${TOKEN}`, "--request-timeout", "20", "--continue-on-failure"],
];
const hooks = fileURLToPath(new URL("checks.py", import.meta.url));
const child = spawn(schemathesis(), args, {
  stdio: ["ignore", "inherit", "inherit"],
  cwd: folder, // it leaves a folder behind
  env: { ...process.env, SCHEMATHESIS_HOOKS: hooks },
});
const status = await new Promise<number | null>((resolve) => child.on("exit", resolve));
await app.close();
await service.stop();
rmSync(folder, { recursive: true, force: true });
if (troubles.length > 0) console.error(`The service logged ${troubles.length} errors:\n${troubles.join("")}`);
process.exitCode = status === 0 && troubles.length === 0 ? 0 : 1;
