/** The compose file, the cluster file and the example's settings say the same. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { KAFKA_VERSION } from "../broker/jars.js";
import { example } from "../example/settings.js";
import { readClusterFile, shown } from "../src/cli.js";
import { makeWorker } from "../src/worker.js";
import { MemoryCluster } from "../src/memory/memoryCluster.js";

const folder = fileURLToPath(new URL("../example/", import.meta.url));

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly command?: string;
  readonly deploy?: { readonly replicas: number };
}

const { services } = parse(readFileSync(join(folder, "compose.yaml"), "utf8"), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
};

test("the cluster file has the example's settings and the compose file's brokers", async () => {
  const copy = mkdtempSync(join(tmpdir(), "brume-example-"));
  writeFileSync(join(copy, "cluster.json"), readFileSync(join(folder, "cluster.json")));
  writeFileSync(join(copy, "key"), new Uint8Array(32));
  const { options } = await readClusterFile(join(copy, "cluster.json"));
  expect(options).toMatchObject(example);
  const brokers = Object.values(services).flatMap(
    ({ environment }) => environment?.["KAFKA_ADVERTISED_LISTENERS"] ?? [],
  );
  expect(brokers.map((address) => String(address).replace("PLAINTEXT://", ""))).toEqual(options.brokers);
  expect(makeWorker(new MemoryCluster().port(), options)).toBeDefined(); // its options are right
});

test.each([
  ["{", "expected JSON"],
  ["[1]", '"brokers" with addresses \\(host:port\\), got none'],
  ['{ "brokers": "one:9092" }', '"brokers" with addresses \\(host:port\\), got "one:9092"'],
  ['{ "brokers": ["one:9092"], "group": "g", "in": "" }', '"in" with a name, got ""'],
  [
    '{ "brokers": ["one:9092"], "group": "g", "in": "i", "state": "s", "out": "o" }',
    '"stream" with the options',
  ],
])("a cluster file with a mistake is refused with what was expected: %s", async (text, message) => {
  const path = join(mkdtempSync(join(tmpdir(), "brume-example-")), "cluster.json");
  writeFileSync(path, text);
  await expect(readClusterFile(path)).rejects.toThrow(new RegExp(message));
});

test("a broker's answer is shown with what to do, and an unknown error is not shown", () => {
  expect(shown({ apiId: "UNKNOWN_TOPIC_OR_PARTITION" })).toBe(
    "the broker answered UNKNOWN_TOPIC_OR_PARTITION: a topic is missing; run: brume kafka topics FILE",
  );
  expect(shown({ apiId: "NOT_CONTROLLER" })).toBe("the broker answered NOT_CONTROLLER");
  expect(shown({ code: "PLT_KFK_NETWORK", message: "Connection to one:9092 failed." })).toBe(
    "brokers: expected one that answers, got none; Connection to one:9092 failed",
  );
  expect(shown(new Error("a value"))).toBeUndefined();
});

test("the compose file has three safe brokers and two workers", () => {
  const brokers = Object.values(services).filter(({ image }) => image === `apache/kafka:${KAFKA_VERSION}`);
  expect(brokers.map(({ environment }) => environment!["KAFKA_NODE_ID"])).toEqual([1, 2, 3]);
  for (const { environment } of brokers)
    expect(environment).toMatchObject({
      KAFKA_DEFAULT_REPLICATION_FACTOR: 3,
      KAFKA_MIN_INSYNC_REPLICAS: 2,
      KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: "false",
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 3,
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 2,
    });
  expect(services["worker"]).toMatchObject({ deploy: { replicas: 2 } });
  expect(services["worker"]!.command).toMatch(/brume kafka run cluster\.json$/);
});
