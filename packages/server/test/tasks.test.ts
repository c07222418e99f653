/** Tasks of examples/tasks that a service does, asked over HTTP: what it answers holds the truth, over restarts too. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkConfig } from "../src/config/load.js";
import { makeHandler } from "../src/handler.js";
import { reporter } from "brume";
import { DAY, pageLoads } from "../../../examples/tasks/data.js";
import { metricsOf } from "../src/config/metrics.js";
import { pass, send, START, startService, temporaryFolder, testConfig } from "./support.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const config = checkConfig(JSON.parse(readFileSync("examples/tasks/brume.json", "utf8")));
const made = (folder: string) =>
  testConfig(folder, { metrics: config.metrics, epsilon: config.epsilon, zone: config.zone! });

interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}
interface Answer extends Estimate {
  readonly from: number;
  readonly to: number;
  readonly total: Estimate;
  readonly quantiles: readonly (Estimate & { readonly p: number })[];
}
const holds = ({ low, high }: Estimate, truth: number): boolean =>
  (low ?? -Infinity) <= truth && truth <= (high ?? Infinity);

test("requests per minute as a gauge, and p95 of each route, over a restart", async () => {
  const folder = temporaryFolder();
  let running = await startService(made(folder));
  const ask = async (query: string) => (await running.app.inject(`/v1/query?${query}`)).json<Answer>();
  expect((await running.app.inject("/metrics")).body).not.toMatch(/brume_value\{metric="requests"/);
  const many = (minute: number): number => Math.round(60 + 50 * Math.sin(minute / 9));
  const took = (minute: number, i: number, route: number): number =>
    (40 + 100 * route) * (1 + ((i * 37 + minute) % 50) / 25);
  const routes = ["home", "search", "checkout"];
  let [asked, right, gauges] = [0, 0, 0];
  const MINUTES = 64; // an hour, and what its lateness takes
  for (let minute = 0; minute < MINUTES; minute++) {
    if (minute === 31) {
      await running.stop();
      running = await startService(made(folder), running.clock);
    }
    const events = Array.from({ length: many(minute) }, (_, i) => [
      { metric: "requests" },
      ...routes.map((key, route) => ({ metric: "latency", key, value: took(minute, i, route) })),
    ]);
    expect((await send(running.app, events.flat())).statusCode).toBe(202);
    await pass(running, MINUTE);
    const newest = await ask("metric=requests&last=1m");
    if (newest.value === null) continue;
    asked++;
    if (holds(newest, many((newest.from - START) / MINUTE))) right++;
    const gauge = /brume_value\{metric="requests",key="",bound="estimate"\} (\S+)/.exec(
      (await running.app.inject("/metrics")).body,
    );
    if (Number(gauge![1]) === newest.value) gauges++;
  }
  expect(asked).toBeGreaterThan(55);
  expect(gauges).toBe(asked);
  // At 95 % each, 16 or more of 64 miss with odds of 10⁻⁷.
  expect(asked - right).toBeLessThan(16);

  const found: boolean[] = [];
  for (const [route, key] of routes.entries()) {
    const answer = await ask(`metric=latency&key=${key}&last=1h&quantiles=0.5,0.95`);
    expect(answer.to - answer.from).toBe(HOUR);
    const values = Array.from({ length: 60 }, (_, minute) =>
      Array.from({ length: many(minute) }, (_, i) => took(minute, i, route)),
    )
      .flat()
      .sort((a, b) => a - b);
    found.push(holds(answer.total, values.length));
    for (const quantile of answer.quantiles)
      found.push(holds(quantile, values[Math.ceil(quantile.p * values.length) - 1]!));
    expect(answer.quantiles[1]!.value).not.toBeNull();
  }
  // Six or more of nine miss with odds of 10⁻⁶.
  expect([found.length, found.filter((inside) => !inside).length < 6]).toEqual([9, true]);
});

test("numbers that /v1/live sends hold the truth, and are those that /v1/query gives", async () => {
  const running = await startService(made(temporaryFolder()));
  const handle = await makeHandler(running.service);
  const { body } = await handle(new Request("http://any/v1/live?metric=requests"));
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const MINUTES = 40;
  const many = (minute: number): number => (minute === 20 ? 900 : 3 * (minute % 7));
  const received: Answer[] = [];
  let text = "";
  /** Reads until so many numbers are there. */
  const read = async (numbers: number): Promise<void> => {
    while (received.length < numbers) {
      text += (await reader.read()).value ?? "";
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2))
        if (text.startsWith("data: ")) received.push(JSON.parse(text.slice(6, end)) as Answer);
    }
  };
  for (let minute = 0; minute < MINUTES; minute++) {
    const events = Array.from({ length: many(minute) }, () => ({ metric: "requests" }));
    if (events.length > 0) expect((await send(running.app, events)).statusCode).toBe(202);
    await pass(running, MINUTE);
    await read(minute - 2);
  }
  await reader.cancel();
  expect(received.length).toBeGreaterThan(MINUTES - 5);
  // At 95 % each, 13 or more of 40 miss with odds of 2·10⁻⁷.
  const isMissed = (answer: Answer): boolean => !holds(answer, many((answer.from - START) / MINUTE));
  expect(received.filter(isMissed).length).toBeLessThan(13);
  const last = received.at(-1)!;
  const again = await running.app.inject(`/v1/query?metric=requests&from=${last.from}&to=${last.to}`);
  expect(again.json<Answer>()).toMatchObject({ value: last.value, low: last.low, high: last.high });
});

test("daily users per country: a person counts once, whatever they do; a day that began before the service has no number", async () => {
  const running = await startService(made(temporaryFolder()));
  const day = async (key: string) =>
    (
      await running.app.inject(`/v1/query?metric=users&key=${key}&last=1d&confidence=0.999999`)
    ).json<Answer>();
  const passHours = async (hours: number) => {
    for (let hour = 0; hour < hours; hour++) await pass(running, HOUR);
  };
  await passHours(12); // past midnight in Berlin
  expect((await day("de")).value).toBeNull();
  const people = { de: 400, fr: 150, pl: 0 };
  for (let visit = 0; visit < 3; visit++) {
    const events = Object.entries(people).flatMap(([key, count]) =>
      Array.from({ length: count }, (_, i) => ({ metric: "users", key, person: `${key} ${i}` })),
    );
    expect((await send(running.app, events)).statusCode).toBe(202);
    await passHours(1);
  }
  await passHours(24);
  for (const [key, count] of Object.entries(people)) {
    const answer = await day(key);
    // An interval that misses once in a million, of less than 40 people.
    expect(holds(answer, count)).toBe(true);
    expect(answer.high! - answer.low!).toBeLessThan(40);
  }
});

test("page-load times from browsers: mean, median and p95 of every day, from reports with noise of the device's own", async () => {
  const running = await startService(made(temporaryFolder()));
  const { app, clock, service } = running;
  const { epsilon, local } = metricsOf(config).find(({ name }) => name === "pageload")!;
  const days = [0, 1, 2, 3, 4, 5, 6, 7];
  /** Per question, on how many days the interval misses. */
  const missed = [0, 0, 0];
  const off: boolean[] = [];
  for (const day of days) {
    let terms = { threshold: 0, until: 0 };
    for (let tries = 0; terms.until <= clock.wall(); tries++) {
      expect(tries).toBeLessThan(1000);
      await new Promise((resolve) => setTimeout(resolve, 20)); // until θ of the day is stored
      await service.flush();
      terms = (await app.inject("/v1/local/pageload")).json<typeof terms>();
    }
    const { threshold, until } = terms;
    const device = reporter({ epsilon, max: local!.max, threshold, unsafeSeed: `day ${day}` });
    const loads = pageLoads(day).map((ms) => Math.min(ms, threshold));
    const payload = Buffer.from(device.reportMany(loads));
    const sent = await app.inject({
      ...{ method: "POST", url: `/v1/reports?metric=pageload&batch=day-${day}`, payload },
    });
    expect(sent.statusCode).toBe(204);
    const range = `from=${until - DAY}&to=${until}`;
    const answer = (await app.inject(`/v1/query?metric=pageload&${range}&quantiles=0.5,0.95`)).json<Answer>();
    const mean = loads.reduce((sum, ms) => sum + ms, 0) / loads.length;
    if (!holds(answer, mean)) missed[0]!++;
    off.push(holds(answer, 2 * mean));
    loads.sort((a, b) => a - b);
    answer.quantiles.forEach((quantile, i) => {
      if (!holds(quantile, loads[Math.ceil(quantile.p * loads.length) - 1]!)) missed[1 + i]!++;
    });
    await pass(running, DAY);
  }
  // Reports have fixed seeds. Four or more of eight miss with odds of 4·10⁻⁴ at 95 %.
  expect(missed.every((days) => days < 4)).toBe(true);
  expect(off.slice(1).every((inside) => !inside)).toBe(true); // from the second day on, θ fits
});
