/** The local model over HTTP: terms, reports that count once from the first one on, θ that follows and survives a restart. */
import { cpSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { reporter } from "brume";
import { expect, test, vi } from "vitest";
import { resolveMetric } from "../src/config/metrics.js";
import { pageLoad } from "../src/http/local.js";
import { LocalMetric } from "../src/localMetric.js";
import type { MetricStatement } from "../src/statement.js";
import { packReport } from "../../../src/reporter.js";
import {
  atEnd,
  pass,
  type Running,
  SECONDS,
  send,
  startService,
  temporaryFolder,
  testConfig,
} from "./support.js";

const metrics = { load: { type: "local", epsilon: 4, max: 1000, unit: "ms" } } as const;
const start = (folder: string, from?: Running) =>
  startService(testConfig(folder, { metrics, cors: ["https://shop.example"] }), from?.clock);

interface Terms {
  readonly threshold: number;
  readonly until: number;
}
const terms = async ({ app }: Running) => (await app.inject("/v1/local/load")).json<Terms>();
const post = ({ app }: Running, batch: string, payload: Buffer) =>
  app.inject({
    method: "POST",
    url: `/v1/reports?metric=load&batch=${batch}`,
    payload,
    headers: { origin: "https://shop.example" },
  });

/** Reports of devices that all see the value 200. */
function reports(count: number, threshold = 1000): Buffer {
  const device = reporter({ epsilon: 4, max: 1000, threshold });
  return Buffer.concat(Array.from({ length: count }, () => packReport(device.report(200))));
}

interface Found {
  readonly reports: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly clipped: { readonly threshold: number } | null;
  readonly quantiles: readonly { readonly low: number; readonly high: number }[];
}
const ask = async ({ app }: Running, query: string) =>
  (await app.inject(`/v1/query?metric=load&${query}`)).json<Found>();

test("the first report counts; a batch that comes twice counts once; θ follows at midnight and survives a restart", async () => {
  const folder = temporaryFolder();
  const first = await start(folder);
  expect(await terms(first)).toMatchObject({ threshold: 1000, epsilon: 4, max: 1000, reports: 1 });
  const answer = await post(first, "b1", reports(1));
  expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([
    204,
    "https://shop.example",
  ]);
  expect(await ask(first, "last=1d")).toMatchObject({ reports: 1, unit: "ms", clipped: null });
  const batch = reports(2000);
  expect((await post(first, "b2", batch)).statusCode).toBe(204);
  expect((await post(first, "b2", batch)).statusCode).toBe(204);
  const today = await ask(first, "quantiles=0.5");
  expect(today.reports).toBe(2001);
  // ε = 4: the standard error is below 6, so 60 is ten of them.
  expect(Math.abs(today.value - 200)).toBeLessThan(60);
  expect(today.quantiles[0]!.low).toBeLessThan(200);
  expect(today.quantiles[0]!.high).toBeGreaterThan(200);

  await pass(first, 24 * 3_600_000);
  const wanted = await settled(first);
  expect(wanted.threshold).toBeLessThan(900);
  expect((await post(first, "b3", reports(500, wanted.threshold))).statusCode).toBe(204);
  expect((await post(first, "b4", reports(10))).statusCode).toBe(204); // late, under yesterday's θ
  await first.stop();
  const second = await start(folder, first);
  atEnd(() => second.stop());
  expect((await terms(second)).threshold).toBe(wanted.threshold);
  const now = first.clock.wall();
  const series = (
    await second.app.inject(`/v1/query?metric=load&from=${now - 2 * 86_400_000}&to=${now}&every=1d`)
  ).json<{ answers: Found[] }>();
  expect(series.answers.slice(-2).map((day) => day.reports)).toEqual([2001, 510]);
  expect(series.answers.at(-1)!.clipped!.threshold).toBe(wanted.threshold);
  expect((await second.app.inject("/v1/query?metric=load&every=1d&quantiles=0.5")).statusCode).toBe(400);
});

/** The terms for devices, once θ of the day is stored. */
async function settled(running: Running): Promise<Terms> {
  for (;;) {
    const told = await terms(running);
    if (told.until > running.clock.wall()) return told;
    await new Promise((resolve) => setTimeout(resolve, 20)); // θ is computed in between
    await running.service.flush();
  }
}

test("killed at midnight while θ is chosen: what was told stays good, and the next process chooses the same", async () => {
  const [folder, copy] = [temporaryFolder(), temporaryFolder()];
  const first = await start(folder);
  await pass(first, 12 * 3_600_000 - 240_000); // four minutes to midnight
  await terms(first);
  const batch = reports(2000);
  expect((await post(first, "b1", batch)).statusCode).toBe(204);
  first.clock.pass(480_000);
  const told = await terms(first); // the choice begins
  cpSync(folder, copy, { recursive: true }); // as a kill of this moment leaves it
  const second = await start(copy, first);
  atEnd(() => second.stop());
  expect((await post(second, "b1", batch)).statusCode).toBe(204); // sent again: counts once
  expect((await post(second, "b2", reports(5, told.threshold))).statusCode).toBe(204);
  const [one, two] = [await settled(first), await settled(second)];
  expect(two).toEqual(one);
  expect(two.threshold).toBeLessThan(900);
  expect((await post(second, "b3", reports(7, told.threshold))).statusCode).toBe(204);
  expect((await ask(second, "")).reports).toBe(2012);
});

test("a choice of θ that fails is made with the next question", async () => {
  const told: unknown[] = [];
  let [now, broken] = [1.5 * 86_400_000, true];
  let reads = 0;
  const clock = (): number => (broken && ++reads > 1 ? NaN : now);
  const metric = resolveMetric("load", { type: "local", epsilon: 4 });
  const local = new LocalMetric(
    metric,
    "UTC",
    () => (told.length > 0 ? now : clock()),
    () => told.push(1),
  );
  reads = 0;
  expect(() => local.terms).not.toThrow(); // asks the library, whose clock is broken
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toEqual([]);
  broken = false;
  now += 1;
  expect(local.terms.threshold).toBe(15_000);
  await vi.waitFor(() => expect(told).toEqual([1]));
});

test("what is no report, and what is too long, is refused", async () => {
  const running = await start(temporaryFolder());
  expect((await post(running, "x", Buffer.alloc(9))).statusCode).toBe(400);
  expect((await post(running, "x", Buffer.alloc(1 << 17))).statusCode).toBe(413);
  expect((await running.app.inject("/v1/local/nothing")).statusCode).toBe(404);
  const long = await running.app.inject("/v1/query?metric=load&from=0&every=1d");
  expect([long.statusCode, long.body]).toEqual([400, expect.stringContaining("expected at most 2000 steps")]);
  const [told] = (await running.app.inject("/v1/statement")).json<{ metrics: MetricStatement[] }>().metrics;
  expect(told).toMatchObject({
    stream: null,
    devices: { software: { name: "brume" }, epsilon: 4, max: 1000, core: "wasm" },
  });
  const statement = (await running.app.inject("/v1/statement?format=text")).body;
  expect(statement).toContain("load (local): ε = 4 for one report.");
});

test("the script has ε, the bound and the budget in it, and finds the service by its own address", () => {
  const script = pageLoad("load", 4, 1000, 1);
  const devices: Record<string, unknown>[] = [];
  const brume = { device: (options: Record<string, unknown>) => void devices.push({ ...options }) };
  const document = { currentScript: { src: "https://stats.example/x/v1/local/load/script.js" } };
  runInNewContext(script, { brume, document, addEventListener: () => undefined, URL });
  expect(devices).toEqual([
    {
      ...{ name: "load", epsilon: 4, max: 1000, budget: { reports: 1, every: "1d" } },
      url: "https://stats.example/x/v1/reports?metric=load",
      terms: "https://stats.example/x/v1/local/load",
    },
  ]);
});

test("page loads need nothing but ε: the first day's bound is built in, and the first report counts under it", async () => {
  const metrics = { load: { type: "local", epsilon: 4 } } as const;
  const running = await startService(
    testConfig(temporaryFolder(), { metrics, cors: ["https://shop.example"] }),
  );
  expect(await terms(running)).toMatchObject({ threshold: 15_000, max: 60_000, reports: 1, epsilon: 4 });
  const device = reporter({ epsilon: 4, max: 60_000, threshold: 15_000 });
  const payload = Buffer.concat(Array.from({ length: 50 }, () => packReport(device.report(1500))));
  expect((await post(running, "b1", payload)).statusCode).toBe(204);
  expect(await ask(running, "last=1d")).toMatchObject({
    ...{ reports: 50, unit: "ms", clipped: { threshold: 15_000 } },
  });
});

test("a device, which needs no token, cannot make a batch of events count as sent", async () => {
  const both = {
    ...metrics,
    requests: { type: "count", epsilon: 200, perPerson: 1, ...SECONDS },
  } as const;
  const running = await startService(
    testConfig(temporaryFolder(), { epsilon: 404, metrics: both, cors: ["https://shop.example"] }),
  );
  const key = "reports load b1"; // what a sender of events may call its batch
  for (const batch of ["b1", encodeURIComponent(key), "reports%0Aload%0Ab1"])
    expect((await post(running, batch, reports(1))).statusCode).toBe(204);
  const sent = await send(running.app, [{ metric: "requests", person: "one" }], { "idempotency-key": key });
  expect(sent.statusCode).toBe(202);
  await pass(running, 2000);
  const now = running.clock.wall();
  const answer = (await running.service.hub.between("requests", "", now - 3000, now)) as { value: number };
  expect(Math.round(answer.value)).toBe(1); // noise of scale below 1/50
});

test("a store that does not answer ends the request; the same batch may come again", async () => {
  const running = await start(temporaryFolder());
  Object.assign(running.service.limits, { timeout: 20 });
  const stuck = vi.spyOn(running.service, "report").mockReturnValue(new Promise<never>(() => undefined));
  const answer = await post(running, "b1", reports(1));
  expect(answer.statusCode).toBe(503);
  expect(answer.body).toContain("send the batch again with the same name");
  stuck.mockRestore();
  expect((await post(running, "b1", reports(1))).statusCode).toBe(204);
});
