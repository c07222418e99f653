/** Requirements on the topics. An unsafe cluster is refused: what it loses, we would publish again. */
import { Refusal } from "brume/node";
import type { NewTopic, Port, TopicDescription } from "./port.js";
import type { TopicFacts } from "./partitionState.js";

export interface TopicNames {
  /** Values: the record's key names the stream. */
  readonly in: string;
  /** Encrypted state, compacted. */
  readonly state: string;
  /** Private numbers. */
  readonly out: string;
  /** Records that cannot be read; as secret as `in`. */
  readonly deadLetters?: string;
}

export interface SafetyOptions {
  /** Takes a cluster that loses data when one machine does. For a laptop; never for people's data. */
  readonly development?: boolean;
}

/** Bytes: the state of one key is one record, and with short periods or many buckets it is larger than Kafka's default. */
const LARGEST_STATE = String(16 * 2 ** 20);

/** Topics as they should be made: three copies of everything, two of them written before anything counts. */
export function topicPlan(
  names: TopicNames,
  partitions: number,
  { development }: SafetyOptions = {},
): NewTopic[] {
  const replicas = development ? 1 : 3;
  const safe = { "min.insync.replicas": development ? "1" : "2", "unclean.leader.election.enable": "false" };
  const list = [
    { name: names.in, config: { "cleanup.policy": "delete" } },
    { name: names.state, config: { "cleanup.policy": "compact", "max.message.bytes": LARGEST_STATE } },
    { name: names.out, config: { "cleanup.policy": "delete" } },
    ...(names.deadLetters === undefined
      ? []
      : [{ name: names.deadLetters, config: { "cleanup.policy": "delete" } }]),
  ];
  return list.map(({ name, config }) => ({ name, partitions, replicas, config: { ...safe, ...config } }));
}

/** Everything that is unsafe about the topics, each with what to change. */
export function topicProblems(
  topics: readonly TopicDescription[],
  names: TopicNames,
  { development }: SafetyOptions = {},
): string[] {
  const problems: string[] = [];
  const want = (topic: TopicDescription, ok: boolean, what: string, got: string, how: string) => {
    if (!ok) problems.push(`${topic.name}: expected ${what}, got ${got}; ${how}`);
  };
  const partitions = topics[0]?.partitions ?? 0;
  for (const topic of topics) {
    const { name, replicas, config } = topic;
    const set = (key: string) => config[key] ?? "nothing";
    const configure = (key: string, value: string) =>
      `run: kafka-configs.sh --alter --entity-type topics --entity-name ${name} --add-config ${key}=${value}`;
    if (!development) {
      want(
        topic,
        replicas >= 3,
        "replication factor 3 or more",
        String(replicas),
        "make the topic again with 3 replicas",
      );
      const least = set("min.insync.replicas");
      want(
        topic,
        Number(least) >= 2,
        "min.insync.replicas 2 or more",
        least,
        configure("min.insync.replicas", "2"),
      );
    }
    const unclean = set("unclean.leader.election.enable");
    const uncleanFix = configure("unclean.leader.election.enable", "false");
    want(topic, unclean === "false", "unclean.leader.election.enable=false", unclean, uncleanFix);
    const policy = name === names.state ? "compact" : "delete";
    const cleanup = set("cleanup.policy");
    want(topic, cleanup === policy, `cleanup.policy=${policy}`, cleanup, configure("cleanup.policy", policy));
    const equal = name === names.deadLetters || topic.partitions === partitions;
    const fix = "make all topics again with the same number";
    want(topic, equal, `${partitions} partitions, as ${names.in}`, String(topic.partitions), fix);
  }
  return problems;
}

/** Throws unless the topics are safe; gives what the manifest remembers of them, and the dead letters' partitions. */
export async function checkTopics(
  port: Port,
  names: TopicNames,
  options: SafetyOptions,
): Promise<{ facts: TopicFacts; deadLetterPartitions: number }> {
  const list = [
    names.in,
    names.state,
    names.out,
    ...(names.deadLetters === undefined ? [] : [names.deadLetters]),
  ];
  const topics = await port.describe(list);
  const problems = topicProblems(topics, names, options);
  if (problems.length > 0) throw new Refusal(`topics: not safe\n  ${problems.join("\n  ")}`);
  const facts = { topics: topics.slice(0, 3).map(({ id }) => id), partitions: topics[0]!.partitions };
  return { facts, deadLetterPartitions: topics[3]?.partitions ?? 0 };
}
