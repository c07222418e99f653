/** Statements of a service pass brume verify, beside its store too; one that was changed does not. */
import { writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runCommand } from "../../../src/cli/run.js";
import { KEY, send, startService, temporaryFolder, testConfig } from "./support.js";

/** Runs a command in this process, and gives its lines. */
async function brume(...argv: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const spies = (["log", "error"] as const).map((kind) => vi.spyOn(console, kind).mockImplementation(tell));
  try {
    return { code: await runCommand(argv), lines };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

interface Told {
  metrics: { name: string; stream: Record<string, unknown>; devices: Record<string, unknown> }[];
}

test("a service's statement, with and without its store", async () => {
  const folder = temporaryFolder();
  const running = await startService(testConfig(folder));
  const { app } = running;
  await send(app, [{ metric: "requests", key: "a", person: "one" }]);
  const told = (await app.inject("/v1/statement")).json<Told>();
  await running.stop();
  const file = join(folder, "statement.json");
  writeFileSync(file, JSON.stringify(told));
  writeFileSync(join(folder, "key"), Buffer.from(KEY).toString("base64"));
  const whole = await brume("verify", file);
  expect([whole.code, whole.lines.filter((line) => !/^[✓?]/.test(line))]).toEqual([0, []]);
  for (const name of ["requests", "basket", "latency"])
    expect(whole.lines).toContain(`✓ ${name}: shares of ε sum to 1 (32/32)`);

  const beside = await brume("verify", file, "--store", folder, "--key", join(folder, "key"));
  // Node's own SQLite opens a file by its path.
  if (isBuiltin("node:sqlite")) {
    expect([beside.code, beside.lines.filter((line) => !/^[✓?]/.test(line))]).toEqual([0, []]);
    expect(beside.lines.join("\n")).toMatch(/✓ basket: [1-9]\d* of them were made with the options/);
  } else expect(beside.lines.join("\n")).toContain("has no SQLite of its own");

  const { stream } = told.metrics.find(({ name }) => name === "basket")!;
  stream["noiseScale"] = (stream["noiseScale"] as number) / 2;
  writeFileSync(file, JSON.stringify(told));
  const other = await brume("verify", file);
  expect(other.code).toBe(1);
  expect(other.lines.join("\n")).toContain("✗ basket: noise of scale");

  const release = await brume("verify", file, "--state", folder);
  expect([release.code, release.lines[0]]).toEqual([
    2,
    "brume verify: --release, --state: expected the statement of a release, got one of a service; check its --store",
  ]);
  expect((await brume("statement", file, "--registry")).lines.join()).toContain(
    "/v1/statement?format=registry",
  );
});

test("a metric of devices has the statement of its reports", async () => {
  const folder = temporaryFolder();
  const metrics = { load: { type: "local", epsilon: 4, max: 1000, unit: "ms" } } as const;
  const running = await startService(testConfig(folder, { metrics }));
  const told = (await running.app.inject("/v1/statement")).json<Told>();
  await running.stop();
  const file = join(folder, "statement.json");
  writeFileSync(file, JSON.stringify(told));
  const whole = await brume("verify", file);
  expect([whole.code, whole.lines.filter((line) => !/^[✓?]/.test(line))]).toEqual([0, []]);
  expect(whole.lines.join("\n")).toContain("✓ load: every field follows from the options");

  told.metrics[0]!.devices["cells"] = 3;
  writeFileSync(file, JSON.stringify(told));
  const other = await brume("verify", file);
  expect([other.code, other.lines.join("\n")]).toEqual([1, expect.stringContaining("not so: cells")]);
});
