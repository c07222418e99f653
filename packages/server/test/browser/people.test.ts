/** Different people on the dashboard: the newest day, how a person counts, and a year of a person's ε beside the sum. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { amount } from "../../../../site/src/look/format.js";
import { launch, open } from "../../../../test/support/chromium.js";
import { pass, send, startService, temporaryFolder, testConfig } from "../support.js";
import { literal, text, WAIT } from "./page.js";

const HOUR = 3_600_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launch(inject("chromium"));
});
afterAll(() => browser.close());

test("the number of the newest day, in words, and the plan of a year", async () => {
  const metrics = { visitors: { type: "people", epsilon: 2, over: "1d", lateness: "0s" } } as const;
  const running = await startService(testConfig(temporaryFolder(), { metrics, epsilon: 2 }));
  await pass(running, 12 * HOUR + 1000); // to the first midnight
  for (let day = 0; day < 5; day++) {
    const people = Array.from({ length: 300 }, (_, i) => ({ metric: "visitors", person: `p${i % 150}` }));
    expect((await send(running.app, people)).statusCode).toBe(202);
    for (let part = 0; part < 4; part++) await pass(running, 6 * HOUR);
  }
  const { value } = (await running.app.inject("/v1/query?metric=visitors")).json<{ value: number }>();
  const url = await running.app.listen({ host: "127.0.0.1", port: 0 });
  const { page, errors } = await open(browser, url, { reducedMotion: "reduce" });
  page.setDefaultTimeout(WAIT);
  await text(page, "#headline", new RegExp(`^${literal(amount(value))}\\speople$`));
  expect(await page.locator("#about").textContent()).toContain("visitors, different people, last day");
  expect(await page.locator("#margin").textContent()).toContain("A person counts once in a day.");
  await page.goto(`${url}/?view=privacy`);
  const plan = await page.locator("#plan").textContent();
  expect(plan).toContain(`every day of a yearε = ${amount(365 * 2)}`);
  expect(plan).toMatch(/every day of a yearε = 730ε = [56]\d\d, δ = 1e-9/);
  expect(errors).toEqual([]);
  await page.close();
});

test("a key that nobody listed is there when it is found, and δ is said in words", async () => {
  const views = {
    ...({ type: "count", epsilon: 200, every: "1h", perPerson: 1, lateness: "0s" } as const),
    keys: { listed: ["/"], discover: { delta: 1e-9 } },
  };
  const config = testConfig(temporaryFolder(), { metrics: { views }, epsilon: 200, delta: 1e-9 });
  const running = await startService(config);
  const people = Array.from({ length: 20 }, (_, i) => ({
    metric: "views",
    key: "/pricing",
    person: `p${i}`,
  }));
  expect((await send(running.app, people)).statusCode).toBe(202);
  for (let hour = 0; hour < 13; hour++) await pass(running, HOUR);
  const url = await running.app.listen({ host: "127.0.0.1", port: 0 });
  const { page, errors } = await open(browser, `${url}/?view=privacy`, { reducedMotion: "reduce" });
  page.setDefaultTimeout(WAIT);
  await text(
    page,
    "#budget",
    /δ = 1e-9 a day is the probability that a key that only this person used on that day/,
  );
  expect(await page.locator("#key").textContent()).toBe("//pricing(other)");
  expect(await page.locator("#plan").textContent()).toContain("δ = 3.65e-7");
  expect(errors).toEqual([]);
  await page.close();
});
