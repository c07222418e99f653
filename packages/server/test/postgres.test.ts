/** The service on a PostgreSQL server that is started for the test. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually, type Service as Server, startPostgres } from "../../../test/support/services.js";
import { Service } from "../src/service.js";
import { KEY, pass, type Running, send, START, startService, TestClock, testConfig } from "./support.js";

const VARIABLE = "BRUME_TEST_DATABASE";
const config = testConfig("unused", { store: { postgres: { env: VARIABLE } } });
let server: Server;

beforeAll(async () => {
  server = await startPostgres();
  process.env[VARIABLE] = `postgres://brume@127.0.0.1:${server.port}/postgres`;
  await eventually(async () => (await Service.open(config, { key: KEY, clock: STOPPED })).stop());
});
afterAll(() => server.stop());
afterEach(() => {
  process.env[VARIABLE] = `postgres://brume@127.0.0.1:${server.port}/postgres`;
});

/** Before the clock of the tests: the state is there when they begin. */
const STOPPED = { wall: () => START - 60_000, steady: () => 0 };

/** The clock of a test behind those before it. */
function later(): TestClock {
  const clock = new TestClock();
  clock.pass(10_000);
  return clock;
}

const event = (person: string) => ({ metric: "requests", key: "a", person });
const answer = async ({ app }: Running) =>
  (await app.inject(`/v1/query?metric=requests&key=a&from=${START}&to=${START + 3000}`)).body;

test("a kill, and a second service that takes over: the same numbers, a batch counts once, the first one stops", async () => {
  const first = await startService(config);
  const batch = [event("one"), event("two")];
  expect((await send(first.app, batch, { "idempotency-key": "k" })).statusCode).toBe(202);
  await pass(first, 3000);
  const before = await answer(first);
  const ended = new Promise<Error>((resolve) => first.service.onEnd(resolve));
  // The first one is not stopped: what the second one finds is what a kill leaves.
  const second = await startService(config, first.clock);
  expect(await answer(second)).toBe(before);
  expect((await send(second.app, batch, { "idempotency-key": "k" })).statusCode).toBe(202);
  await pass(second, 1000);
  expect(await answer(second)).toBe(before);
  await first.service.flush().catch(() => undefined);
  expect((await ended).message).toContain("another service writes to the same state");
  expect((await send(first.app, batch)).statusCode).toBe(503);
});

test("a full journal is taken over while the first service writes: no acknowledged batch is lost, and one service goes on", async () => {
  const first = await startService(config, later());
  const batch = (n: number) => Array.from({ length: 4 }, (_, i) => event(`${n}/${i}`));
  const sent = (n: number) => send(first.app, batch(n), { "idempotency-key": `full ${n}` });
  let acknowledged = 0;
  for (let n = 0; n < 540; n++) if ((await sent(n)).statusCode === 202) acknowledged++;
  expect(acknowledged).toBe(540);
  let writing = true;
  const writer = (async () => {
    for (let n = 540; writing; n++) {
      const { statusCode } = await sent(n);
      if (statusCode !== 202) return statusCode;
      acknowledged++;
    }
    return 0;
  })();
  const second = await startService(config, first.clock);
  expect(await Promise.race([writer, new Promise((resolve) => setTimeout(resolve, 5000))])).toBe(503);
  writing = false;
  // Sent again with their keys, batches that the first one acknowledged count once.
  for (let n = 530; n < 545; n++) await send(second.app, batch(n), { "idempotency-key": `full ${n}` });
  const from = first.clock.wall();
  await pass(second, 1000);
  const { value } = (
    await second.app.inject(`/v1/query?metric=requests&key=a&from=${from}&to=${from + 1000}`)
  ).json<{ value: number }>();
  const counted = Math.max(acknowledged, 545) * 4;
  expect(Math.abs(value - counted)).toBeLessThan(10); // noise of scale 1/5 (ε = 10 for 2 events): beyond it with odds of e⁻⁵⁰
}, 60_000);

test("a database that forgets what it acknowledged is refused", async () => {
  process.env[VARIABLE] += "?options=-c%20synchronous_commit%3Doff";
  await expect(Service.open(config, { key: KEY })).rejects.toThrow(
    "store.postgres: postgresStore: expected a server with synchronous_commit on, got off",
  );
});

test("a database that is not there is refused with what to do, and without the connection string", async () => {
  process.env[VARIABLE] = "postgres://brume:secret-word@127.0.0.1:1/postgres";
  const opened = Service.open(config, { key: KEY });
  await expect(opened).rejects.toThrow(/^store\.postgres: cannot use the database \(ECONNREFUSED\); check/);
  await expect(opened).rejects.not.toThrow("secret-word");
});
