/**
 * Attacks by another user of the machine, and mistakes of whoever runs the service: a folder that all users share,
 * a secret in an error message, a port that is taken, a process that should have ended.
 */
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join, resolve } from "node:path";
import { privateCounter } from "brume";
import { sqliteStore } from "brume/node";
import { build } from "esbuild";
import { createJiti } from "jiti";
import Database from "libsql";
import { afterEach, describe, expect, test, vi } from "vitest";
import { noiseWords, runCommand } from "../src/cli.js";
import { checkConfig, loadConfig } from "../src/config/load.js";
import { readKey, readSecret, readToken } from "../src/config/secrets.js";
import { makeServer, makeLogger } from "../src/http/server.js";
import { Service } from "../src/service.js";
import { atEnd, KEY, listen, startService, temporaryFolder, testConfig } from "./support.js";

const COUNT = { type: "count", every: "1h", perPerson: 1 } as const;
afterEach(() => void vi.restoreAllMocks());

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

describe("another user of the same machine", () => {
  test("cannot run code as the service through a cache in the temporary folder", async () => {
    const [shared, own] = [temporaryFolder(), temporaryFolder()];
    const file = join(own, "brume.config.ts");
    const config = { epsilon: 1, key: { env: "BRUME_KEY" }, metrics: { m: { ...COUNT, epsilon: 1 } } };
    writeFileSync(file, `export default ${JSON.stringify(config)} as object;`);
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = shared;
    atEnd(() => (before === undefined ? delete process.env["TMPDIR"] : (process.env["TMPDIR"] = before)));
    // The attacker knows the file, compiles it the same way, and leaves another program where the compiler looks.
    const cache = join(shared, "jiti");
    await createJiti(import.meta.url, { fsCache: cache, moduleCache: false }).import(file);
    const poisoned = readdirSync(cache);
    expect(poisoned.length).toBeGreaterThan(0);
    for (const name of poisoned) {
      const text = readFileSync(join(cache, name), "utf8");
      writeFileSync(
        join(cache, name),
        text
          .replace('"epsilon": 1', '"epsilon": 999')
          .replace("epsilon:1", "epsilon:999")
          .replace('"epsilon":1', '"epsilon":999'),
      );
      expect(readFileSync(join(cache, name), "utf8")).toContain("999");
    }
    expect((await loadConfig(file)).epsilon).toBe(1);
  });

  test.each([
    [0o666, "write to"],
    [0o620, "write to"],
    [0o644, "read"],
  ])("a key file of mode %o is refused", (mode, what) => {
    const file = join(temporaryFolder(), "key");
    writeFileSync(file, Buffer.alloc(32, 5).toString("base64"));
    chmodSync(file, mode);
    expect(() => readKey({ file })).toThrow(new RegExp(`so that others may ${what} .*; run: chmod 600`));
    chmodSync(file, 0o600);
    expect(readKey({ file })).toHaveLength(32);
  });

  test.each(["0.0.0.0", "::", "192.0.2.7"])(
    "StatsD on %s, which takes events without a token, is refused",
    async (host) => {
      const config = testConfig(temporaryFolder(), { statsd: { host, port: 0 } });
      const service = await Service.open(config, { key: KEY });
      atEnd(() => service.stop());
      await expect(makeServer(service, makeLogger("silent"))).rejects.toThrow(
        "statsd.host: expected an address of this machine",
      );
    },
  );
});

test("a secret that stands in the config by mistake is not repeated in the error", async () => {
  const right = { epsilon: 1, key: { env: "BRUME_KEY" }, metrics: { m: { ...COUNT, epsilon: 1 } } };
  const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlYw";
  const folder = temporaryFolder();
  const files: [string, string][] = [
    ["cut.json", `{"key": ${secret}`],
    ["comma.json", `{"epsilon": 1, "key": "${secret}",}`],
    ["cut.ts", `export default { key: "${secret}" "x" };`],
    ["open.ts", `export default { key: "${secret} };`],
    ["unquoted.ts", `export default { epsilon: 1, key: ${secret} };`],
    ["called.ts", `export default { key: process.env.${secret}() };`],
  ];
  const wrong = [
    { ...right, key: secret },
    { ...right, key: { value: secret } },
    { ...right, key: { env: secret } },
    { ...right, key: [secret] },
    { ...right, tokens: secret },
    { ...right, tokens: { write: secret } },
    { ...right, store: { postgres: `postgres://u:${secret}@db/x` } },
    [{ key: secret }],
  ];
  for (const [i, config] of wrong.entries()) files.push([`wrong-${i}.json`, JSON.stringify(config)]);
  for (const [name, text] of files) {
    writeFileSync(join(folder, name), text);
    const message = await loadConfig(join(folder, name)).then(
      () => "valid",
      (error: Error) => error.message,
    );
    expect([name, message]).toEqual([name, expect.stringMatching(/^config: /)]);
    expect([name, message.includes(secret.slice(0, 8))]).toEqual([name, false]);
  }
});

test("a secret that stands where the name of its file belongs is not repeated in the error", () => {
  const secrets = ["c2VjcmV0LXNlY3JldC9zZWNyZXQtc2VjcmV0LXNlYw", "postgres://user:secret-word@db.example/x"];
  for (const file of secrets)
    for (const read of [
      () => readKey({ file }),
      () => readToken("tokens.write", { file }),
      () => readSecret("store.postgres", { file }),
    ])
      expect(read).toThrow(/^(?!.*(?:c2Vj|secret-word)).*: cannot read the file that it names/);
});

describe("the command", () => {
  /** Runs the command and returns its output, or the message of the error that it ends with. */
  async function command(options: { config: string; check?: boolean; init?: boolean }): Promise<string> {
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    try {
      await runCommand({ check: false, init: false, ...options });
    } catch (error) {
      lines.push((error as Error).message);
    }
    return lines.join("\n");
  }
  /** The command as a process of its own: one that fails ends by itself. Without a loader: it has a thread and a child of its own. */
  async function served(config: string) {
    const outfile = resolve("packages/server/node_modules/.cache", `served-${process.pid}.mjs`);
    await build({
      ...{ entryPoints: ["packages/server/test/served.ts"], outfile, bundle: true, packages: "external" },
      ...{ platform: "node", format: "esm" },
    });
    atEnd(() => rmSync(outfile, { force: true }));
    const child = spawn(process.execPath, [outfile, config], { stdio: ["ignore", "pipe", "pipe"] });
    atEnd(() => child.kill("SIGKILL"));
    child.stdout.resume();
    let text = "";
    child.stderr.on("data", (data: Buffer) => (text += data.toString()));
    return { child, said: () => text, ended: once(child, "close") as Promise<[number | null]> };
  }
  /** A service of its own process, that listens. */
  async function started() {
    const folder = temporaryFolder();
    const key = join(folder, "key");
    writeFileSync(key, Buffer.from(KEY).toString("base64"), { mode: 0o600 });
    const state = join(folder, "state");
    mkdirSync(state);
    const config = { ...testConfig(state), key: { file: key }, listen: { port: 0 }, log: "info" as const };
    writeFileSync(join(folder, "brume.json"), JSON.stringify(config));
    const { child, said, ended } = await served(join(folder, "brume.json"));
    const url = await new Promise<string>((resolve, reject) => {
      let logged = "";
      child.stdout.on("data", (data: Buffer) => {
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec((logged += data.toString())) ?? [];
        if (address !== undefined) resolve(address);
      });
      void ended.then(() => reject(new Error(said())));
    });
    return { child, state, url, said, ended };
  }
  const inFolder = (folder: string): void => {
    const before = process.cwd();
    process.chdir(folder);
    atEnd(() => process.chdir(before));
  };

  test("--init writes a token that only this user can read, and the service it starts asks for it", async () => {
    const folder = temporaryFolder();
    inFolder(folder);
    expect(await command({ config: "brume.json", init: true })).toContain("brume.token");
    for (const file of ["brume.key", "brume.token"]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await command({ config: "brume.json", check: true })).toContain("brume.json: valid. Metrics: ");
    const config = checkConfig(JSON.parse(readFileSync("brume.json", "utf8")));
    const url = await listen(await startService({ ...config, log: "silent" }));
    const body = JSON.stringify({ events: [{ metric: "requests", key: "home", person: "one" }] });
    const token = readFileSync("brume.token", "utf8").trim();
    expect((await post(`${url}/v1/events`, body)).status).toBe(401);
    expect((await post(`${url}/v1/events`, body, { authorization: `Bearer ${token}` })).status).toBe(202);
  });

  test("--check tells the noise of each metric, which is half the width of the intervals that come", async () => {
    const folder = temporaryFolder();
    inFolder(folder);
    await command({ config: "brume.json", init: true });
    const said = await command({ config: "brume.json", check: true });
    const [, minute, hour] = /^metrics\.requests: noise with 95 % probability: 1m ± (\d+), 1h ± (\d+), /m
      .exec(said)!
      .map(Number);
    const { metrics } = checkConfig(JSON.parse(readFileSync("brume.json", "utf8")));
    const { epsilon, perPerson } = metrics["requests"]!;
    let now = Date.UTC(2026, 2, 2);
    const options = { epsilon, perPerson: perPerson as number, every: "1m", levels: ["1m", "1h", "1d"] };
    const counter = privateCounter({ ...options, clock: () => now });
    now += 3_600_000;
    counter.advance();
    for (const [last, told] of [
      ["1m", minute],
      ["1h", hour],
    ] as const) {
      const { low, high } = counter.last(last);
      expect(Math.abs((high! - low!) / 2 / told! - 1)).toBeLessThan(0.03); // told with two digits
    }
    const mean = { type: "mean", epsilon: 1, every: "1h", perPerson: 1, max: 500, unit: "EUR" } as const;
    expect(noiseWords({ ...mean, threshold: 200 })).toMatch(/: 1h ± 1200, 1d ± 1200 EUR in the sum$/);
    expect(noiseWords(mean)).toMatch(/: 1h ± 6\.2, 1d ± 6\.2 times what one event may add, in the sum$/);
  });

  test("the schema that --init refers to is in the tarball, and where the package exports it", async () => {
    const server = resolve("packages/server");
    const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: server,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files }] = JSON.parse(packed.toString()) as [{ files: { path: string }[] }];
    const manifest = JSON.parse(readFileSync(join(server, "package.json"), "utf8")) as {
      exports: Record<string, string>;
    };
    inFolder(temporaryFolder());
    await command({ config: "brume.json", init: true });
    const { $schema } = JSON.parse(readFileSync("brume.json", "utf8")) as { $schema: string };
    const paths = files.map(({ path }) => `./${path}`);
    expect(paths).toContain($schema.replace("./node_modules/brume-server", "."));
    expect(paths).toContain(manifest.exports["./brume.schema.json"]);
  });

  test("--check says beforehand what will be seen of devices' reports", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "brume.json");
    const metrics = { load: { type: "local", epsilon: 1 } };
    writeFileSync(file, JSON.stringify({ epsilon: 1, key: { file: join(folder, "key") }, metrics }));
    writeFileSync(join(folder, "key"), "7".repeat(64), { mode: 0o600 });
    // test/local/precision.test.ts holds these numbers against drawn reports.
    expect(await command({ config: file, check: true })).toContain(
      "metrics.load: at ε = 1 and 500 page loads a day the mean is known to ± 49 % a day, ± 18 % a week; at ε = 2 to ± 23 % and ± 8 %",
    );
  });

  test("--check tells every mistake at once: of the file, of a metric, of two secrets, of what others reach", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "brume.json");
    const config = {
      ...{ epsilon: 1, unknown: 1, key: { env: "BRUME_NO_SUCH_KEY" }, listen: { host: "0.0.0.0" } },
      tokens: { read: { file: join(folder, "none") } },
      metrics: {
        a: { ...COUNT, epsilon: 5 },
        b: { ...COUNT, type: "sum", epsilon: 1 },
        c: { type: "nothing", epsilon: 1 },
      },
    };
    writeFileSync(file, JSON.stringify(config));
    const told = await command({ config: file, check: true });
    for (const part of [
      'unknown field "unknown"',
      "metrics.c.type: expected one of",
      'metrics.b: expected the field "max"',
      "got 6; lower",
      "BRUME_NO_SUCH_KEY",
      "tokens.read: cannot read",
      "tokens.write: expected a token",
    ])
      expect(told).toContain(part);
    expect(told.split("\n")).toHaveLength(7);
  });

  test("a port that is taken is named, with the option that changes it, and nothing is left open", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    atEnd(() => other.close());
    const { port } = other.address() as AddressInfo;
    const folder = temporaryFolder();
    const key = join(folder, "key");
    writeFileSync(key, Buffer.alloc(32, 7).toString("base64"), { mode: 0o600 });
    const config = { ...testConfig(join(folder, "state")), key: { file: key }, listen: { port } };
    writeFileSync(join(folder, "brume.json"), JSON.stringify(config));
    const { said, ended } = await served(join(folder, "brume.json"));
    expect((await ended)[0]).toBe(1);
    expect(said()).toBe(
      `listen.port: another program listens on 127.0.0.1:${port}; stop it, or set listen.port to another one, or start with --port\n`,
    );
    await (await Service.open(testConfig(join(folder, "state")), { key: KEY })).stop(); // the folder is free
  });

  test("a process whose state another one took over ends with an error, though readers hold on to it", async () => {
    const { state, url, said, ended } = await started();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const live = await fetch(`${url}/v1/live`);
    const database = new Database(join(state, "state.sqlite"));
    atEnd(() => database.close());
    const second = await Service.open(testConfig(state), { key: KEY, store: await sqliteStore(database) });
    atEnd(() => second.stop());
    expect((await ended)[0]).toBe(1);
    expect(said()).toContain("another service writes to the same state, so this one stops");
    await live.text().catch(() => undefined); // ended
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test("SIGTERM ends it within 10 s, though readers hold on and a sender never finishes; what was acknowledged is stored", async () => {
    const { child, state, url, said, ended } = await started();
    const live = await fetch(`${url}/v1/live`);
    const { hostname, port } = new URL(url);
    const slow = connect(Number(port), hostname);
    slow.on("error", () => undefined);
    slow.write(
      `POST /v1/events HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"events":[`,
    );
    const body = JSON.stringify({ events: [{ metric: "requests", key: "home", person: "one" }] });
    expect((await post(`${url}/v1/events`, body)).status).toBe(202);
    const begun = performance.now();
    child.kill("SIGTERM");
    const [code] = await ended;
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(code, said()).toBe(0);
    await live.text().catch(() => undefined);
    slow.destroy();
    const again = await Service.open(testConfig(state), { key: KEY, confirmClock: true });
    atEnd(() => again.stop());
    expect(await again.hub.sequence()).toBeGreaterThan(1);
  });
});
