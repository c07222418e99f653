/** A real Prometheus scrapes a service that listens, and Grafana's queries for the past run against the real endpoint. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { eventually, startPrometheus } from "../../../test/support/services.js";
import { checkConfig } from "../src/config/load.js";
import { MOST_SERIES } from "../src/gauges.js";
import { atEnd, listen, pass, SECONDS, send, startService, temporaryFolder, testConfig } from "./support.js";

const FOLDER = "packages/server/docker";
const read = (file: string): string => readFileSync(join(FOLDER, file), "utf8");

test("Prometheus reads the newest published number with its bounds, and nothing of a key without one", async () => {
  const metrics = {
    requests: { type: "count", epsilon: 600, keys: ['a "b"\\', "b"], ...SECONDS, protect: "event" },
    basket: { type: "mean", epsilon: 5, max: 100, threshold: 100, ...SECONDS, protect: "event" },
  } as const;
  const running = await startService(testConfig(temporaryFolder(), { epsilon: 1000, metrics }));
  const url = await listen(running);
  const events = Array.from({ length: 7 }, () => ({ metric: "requests", key: 'a "b"\\' }));
  expect((await send(running.app, events)).statusCode).toBe(202);
  await pass(running, 1000);
  const prometheus = await startPrometheus([url.replace("http://", "")]);
  atEnd(() => prometheus.stop());
  const ask = async (query: string) => {
    const answer = await fetch(
      `http://127.0.0.1:${prometheus.port}/api/v1/query?query=${encodeURIComponent(query)}`,
    );
    const { data } = (await answer.json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return data.result.map(({ metric: { key, bound }, value }) => ({ key, bound, value: Number(value[1]) }));
  };
  const found = await eventually(async () => {
    const samples = await ask('brume_value{metric="requests"}');
    if (samples.length === 0) throw new Error("nothing was scraped yet");
    return samples;
  });
  const own = found.filter(({ key }) => key === 'a "b"\\');
  expect(own.map(({ bound }) => bound).sort()).toEqual(["estimate", "high", "low"]);
  const at = (bound: string) => own.find((sample) => sample.bound === bound)!.value;
  expect(at("estimate")).toBeCloseTo(7, 1);
  expect(at("low")).toBeLessThanOrEqual(7);
  expect(at("high")).toBeGreaterThanOrEqual(7);
  expect(await ask('brume_value{metric="basket"}')).toEqual([]); // no event: a mean says nothing
  expect((await ask("brume_series_cut")).map(({ value }) => value)).toEqual([0]);
  expect((await ask("up")).map(({ value }) => value)).toEqual([1]);
});

test("series beyond the limit are counted, not dropped in silence", async () => {
  const keys = Array.from({ length: MOST_SERIES + 3 }, (_, i) => `k${i}`);
  const metrics = { many: { type: "count", epsilon: 1, keys, every: "1d", protect: "event" } } as const;
  const { app } = await startService(testConfig(temporaryFolder(), { metrics }));
  expect((await app.inject("/metrics")).body).toContain("\nbrume_series_cut 3\n");
});

interface Panel {
  readonly targets: readonly {
    readonly url: string;
    readonly root_selector: string;
    readonly columns: readonly { readonly selector: string; readonly text: string; readonly type: string }[];
  }[];
}

test("Grafana's queries through its Infinity data source give times, values and bounds of the past", async () => {
  const { metrics } = checkConfig(JSON.parse(read("brume.json")));
  const { datasources } = parse(read("grafana/provisioning/datasources/brume.yaml")) as {
    datasources: { url: string; uid: string; type: string; jsonData: { allowedHosts: string[] } }[];
  };
  const [source] = datasources;
  expect(source!.jsonData.allowedHosts).toEqual([source!.url]);
  expect(read("compose.yaml")).toContain(`GF_PLUGINS_PREINSTALL: ${source!.type}`);
  // An ε at which noise is below one event.
  const { requests, ...others } = metrics;
  const clear = { ...others, requests: { ...requests!, epsilon: 10_000 } } as typeof metrics;
  const running = await startService(testConfig(temporaryFolder(), { epsilon: 10_001, metrics: clear }));
  const url = await listen(running);
  const from = running.clock.wall();
  for (let hour = 0; hour < 3; hour++) {
    await send(
      running.app,
      Array.from({ length: 50 }, (_, i) => ({ metric: "requests", key: "home", person: `p${i}` })),
    );
    await pass(running, 3_600_000);
  }
  await pass(running, 60_000); // lateness
  const { panels, templating } = JSON.parse(read("grafana/dashboards/past.json")) as {
    panels: readonly Panel[];
    templating: { list: { name: string; query: string; current: { value: string } }[] };
  };
  const variables = Object.fromEntries(templating.list.map(({ name, current }) => [name, current.value]));
  const filled = { ...variables, __from: String(from), __to: String(running.clock.wall()) };
  for (const { targets } of panels)
    for (const { url: path, root_selector: rootSelector, columns } of targets) {
      const asked = path.replace(/\$\{(\w+)\}/g, (_, name: keyof typeof filled) => filled[name]);
      const answer = await fetch(url + asked);
      expect([asked, answer.status]).toEqual([asked, 200]);
      const rows = ((await answer.json()) as Record<string, Record<string, unknown>[]>)[rootSelector]!;
      expect(rows.length).toBeGreaterThanOrEqual(3);
      const cells = columns.map(({ selector }) =>
        selector.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], rows[0]),
      );
      expect([columns[0]!.text, cells[0]]).toEqual(["time", from]);
      for (const cell of cells) expect(cell === null || typeof cell === "number").toBe(true);
      if (asked.includes("requests")) {
        const [, value, low, high] = cells as [number, number, number, number];
        expect(value).toBeCloseTo(50, 0);
        expect([low <= value, value <= high]).toEqual([true, true]);
      }
    }
  // What the service has as keys, the dashboard offers.
  expect(templating.list[0]!.query.split(",")).toEqual(metrics["requests"]!.keys);
});
