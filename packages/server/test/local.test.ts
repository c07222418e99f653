/** The local model over HTTP: terms, reports that count once, θ that survives a restart. */
import { runInNewContext } from "node:vm";
import { reporter } from "brume";
import { expect, test } from "vitest";
import { pageLoad } from "../src/http/local.js";
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

const metrics = { load: { type: "local", epsilon: 4, max: 1000, holdout: 64, unit: "ms" } } as const;
const start = (folder: string, from?: Running) =>
  startService(testConfig(folder, { metrics, cors: ["https://shop.example"] }), from?.clock);

interface Terms {
  readonly phase: "learn" | "release";
  readonly threshold?: number;
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
function reports(count: number, { phase, threshold }: Terms): Buffer {
  const device = reporter({
    epsilon: 4,
    max: 1000,
    phase,
    ...(threshold === undefined ? {} : { threshold }),
  });
  return Buffer.concat(Array.from({ length: count }, () => packReport(device.report(200))));
}

test("learn, choose θ, release; a batch that comes twice counts once; a restart keeps θ", async () => {
  const folder = temporaryFolder();
  const first = await start(folder);
  expect(await terms(first)).toMatchObject({ phase: "learn", epsilon: 4, max: 1000, reports: 1 });
  const answer = await post(first, "b1", reports(64, { phase: "learn" }));
  expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([
    204,
    "https://shop.example",
  ]);
  while ((await terms(first)).phase === "learn") {
    await new Promise((resolve) => setTimeout(resolve, 20)); // θ is computed in between
    await first.service.flush();
  }
  const wanted = await terms(first);
  const released = reports(2000, wanted);
  expect((await post(first, "b2", released)).statusCode).toBe(204);
  expect((await post(first, "b2", released)).statusCode).toBe(204);
  await first.stop();
  const second = await start(folder, first);
  atEnd(() => second.stop());
  expect(await terms(second)).toEqual(wanted);
  const found = (await second.app.inject("/v1/query?metric=load&quantiles=0.5")).json<
    Record<string, number>
  >();
  expect(found).toMatchObject({ reports: 2000, learned: 64, unit: "ms" });
  // ε = 4 and 2,000 reports: ten standard errors are far below 100.
  expect(Math.abs(found["value"]! - Math.min(200, wanted.threshold!))).toBeLessThan(100);
});

test("what is no report, and what is too long, is refused", async () => {
  const running = await start(temporaryFolder());
  expect((await post(running, "x", Buffer.alloc(9))).statusCode).toBe(400);
  expect((await post(running, "x", Buffer.alloc(1 << 17))).statusCode).toBe(413);
  expect((await running.app.inject("/v1/local/nothing")).statusCode).toBe(404);
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
    expect((await post(running, batch, reports(1, { phase: "learn" }))).statusCode).toBe(204);
  const sent = await send(running.app, [{ metric: "requests", person: "one" }], { "idempotency-key": key });
  expect(sent.statusCode).toBe(202);
  await pass(running, 2000);
  const now = running.clock.wall();
  const answer = (await running.service.hub.between("requests", "", now - 3000, now)) as { value: number };
  expect(Math.round(answer.value)).toBe(1); // noise of scale below 1/50
});
