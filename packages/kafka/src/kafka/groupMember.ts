/**
 * Membership of a consumer group (the classic protocol). The group only says who works on which partition; two
 * members may believe they own one for a moment, and the fencing of writers makes that harmless. So work goes on
 * during a rebalance, and only what moved is closed.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import {
  type Broker,
  heartbeatV4,
  joinGroupV9,
  leaveGroupV5,
  Reader,
  syncGroupV5,
  Writer,
} from "@platformatic/kafka";

import type { GroupOptions, Membership } from "../port.js";
import { type Connections, errorCode } from "./connections.js";

type JoinGroupResponse = joinGroupV9.JoinGroupResponse;

const PROTOCOL = "brume";
/** Heartbeats per session: two may be lost. */
const BEATS = 3;

export class GroupMember implements Membership {
  readonly #connections: Connections;
  readonly #options: GroupOptions;
  readonly #lane: string;
  readonly #stop = new AbortController();
  #memberId = "";
  #generation = -1;
  #running: Promise<void>;
  /** When the broker last said that we are a member. */
  #confirmed = performance.now();

  constructor(connections: Connections, options: GroupOptions) {
    this.#connections = connections;
    this.#options = options;
    this.#lane = `group/${options.group}`;
    this.#running = this.#run();
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#memberId !== "") {
      const { group, instance = null } = this.#options;
      const member = { memberId: this.#memberId, groupInstanceId: instance, reason: "stopped" };
      const coordinator = await this.#connections.coordinator("group", group).catch(() => undefined);
      if (coordinator !== undefined)
        await this.#connections
          .request(this.#lane, coordinator, leaveGroupV5.api, [group, [member]])
          .catch(() => {});
    }
    await this.#connections.close(this.#lane);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted)
      try {
        const coordinator = await this.#connections.coordinator("group", this.#options.group);
        const partitions = await this.#joinAndSync(coordinator);
        this.#confirmed = performance.now();
        if (!this.#stop.signal.aborted) this.#options.onAssigned(partitions);
        await this.#beat(coordinator);
      } catch (error) {
        const code = errorCode(error);
        if (code === "FENCED_INSTANCE_ID" || code === "UNKNOWN_MEMBER_ID") {
          this.#memberId = "";
          this.#options.onAssigned([]);
        }
        // Others take over after the session: what we still do then is fenced, so stopping early only saves work.
        if (performance.now() - this.#confirmed > this.#options.sessionTimeout) this.#options.onAssigned([]);
        if (code !== "REBALANCE_IN_PROGRESS") await this.#pause(code === undefined ? 200 : 20);
      }
  }

  /** Beats until the group changes, which the broker says with an error, or until we stop. */
  async #beat(coordinator: Broker): Promise<void> {
    const { group, instance = null, sessionTimeout } = this.#options;
    while (!this.#stop.signal.aborted) {
      await this.#pause(sessionTimeout / BEATS);
      if (this.#stop.signal.aborted) return;
      const args: [string, number, string, string | null] = [
        group,
        this.#generation,
        this.#memberId,
        instance,
      ];
      await this.#connections.request(this.#lane, coordinator, heartbeatV4.api, args);
      this.#confirmed = performance.now();
    }
  }

  async #joinAndSync(coordinator: Broker): Promise<number[]> {
    const { group, instance = null } = this.#options;
    const joined = await this.#join(coordinator);
    this.#memberId = joined.memberId!;
    this.#generation = joined.generationId;
    const leads = joined.leader === joined.memberId && !joined.skipAssignment;
    const assignments = leads ? await this.#assign(joined) : [];
    const { assignment } = await this.#connections.request(this.#lane, coordinator, syncGroupV5.api, [
      group,
      this.#generation,
      this.#memberId,
      instance,
      "consumer",
      joined.protocolName ?? PROTOCOL,
      assignments,
    ]);
    return decodeAssignment(assignment);
  }

  async #join(coordinator: Broker): Promise<JoinGroupResponse> {
    const { group, topic, sessionTimeout, instance = null } = this.#options;
    const metadata = Writer.create()
      .appendInt16(0)
      .appendArray([topic], (w, name) => w.appendString(name, false), false, false)
      .appendBytes(Buffer.alloc(0), false).buffer;
    const protocols = [{ name: PROTOCOL, metadata }];
    const ask = () =>
      this.#connections.request(
        this.#lane,
        coordinator,
        joinGroupV9.api,
        [group, sessionTimeout, sessionTimeout, this.#memberId, instance, "consumer", protocols, ""],
        sessionTimeout,
      );
    try {
      return await ask();
    } catch (error) {
      if (errorCode(error) !== "MEMBER_ID_REQUIRED") throw error;
      this.#memberId = (error as { response?: { memberId?: string } }).response?.memberId ?? "";
      return ask();
    }
  }

  async #assign({ members }: JoinGroupResponse): Promise<{ memberId: string; assignment: Buffer }[]> {
    const { topic } = this.#options;
    const { topics } = await this.#connections.metadata([topic]);
    const count = topics.find(({ name }) => name === topic)?.partitions.length ?? 0;
    const owners = new Map(
      members.map(({ memberId, groupInstanceId }) => [groupInstanceId ?? memberId, memberId]),
    );
    const shares = assignPartitions([...owners.keys()], count);
    return [...shares].map(([owner, partitions]) => ({
      memberId: owners.get(owner)!,
      assignment: encodeAssignment(topic, partitions),
    }));
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

/**
 * Shares partitions evenly. Each partition prefers the members in an order of its own (a hash of both), so when a
 * member comes or goes, few partitions move, and nobody has to remember the assignment before.
 */
export function assignPartitions(members: readonly string[], partitions: number): Map<string, number[]> {
  const shares = new Map<string, number[]>([...members].sort().map((member) => [member, []]));
  const most = Math.ceil(partitions / members.length);
  const rank = (member: string, partition: number) =>
    createHash("sha256").update(`${partition}/${member}`).digest().readUIntBE(0, 6);
  for (let partition = 0; partition < partitions; partition++) {
    const open = [...shares].filter(([, share]) => share.length < most);
    const [, share] = open.reduce((a, b) => (rank(b[0], partition) > rank(a[0], partition) ? b : a));
    share.push(partition);
  }
  return shares;
}

function encodeAssignment(topic: string, partitions: readonly number[]): Buffer {
  return Writer.create()
    .appendInt16(0)
    .appendArray(
      [topic],
      (w, name) =>
        w
          .appendString(name, false)
          .appendArray([...partitions], (inner, index) => inner.appendInt32(index), false, false),
      false,
      false,
    )
    .appendBytes(Buffer.alloc(0), false).buffer;
}

function decodeAssignment(bytes: Buffer): number[] {
  if (bytes.length < 6) return [];
  const reader = Reader.from(bytes);
  reader.readInt16();
  const topics = reader.readArray(
    (r) => {
      r.readString(false);
      return r.readArray((inner) => inner.readInt32(), false, false);
    },
    false,
    false,
  );
  return topics.flat();
}
