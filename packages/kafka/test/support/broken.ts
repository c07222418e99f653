/** Workers and ports with one rule removed: the tests must see what the rule is for. */
import { randomUUID } from "node:crypto";

import type { Keyed } from "../../src/keyed.js";
import type { Port } from "../../src/port.js";
import type { PartitionState } from "../../src/partitionState.js";
import { PartitionTask } from "../../src/partitionTask.js";

/** New streams publish at once, before their noise key is committed. */
export class WithoutBirthFirst extends PartitionTask {
  protected override commitBirths(newcomers: readonly Keyed[], state: PartitionState): Promise<void> {
    for (const keyed of newcomers) state.add(keyed);
    return Promise.resolve();
  }
}

/** Every worker writes under an id of its own, so nobody is fenced. */
export function withoutFencing(port: Port): Port {
  return { ...boundPort(port), writer: (id) => port.writer(`${id}/${randomUUID()}`) };
}

/** Every member is given all partitions, as if the group had split in two. */
export function splitBrain(port: Port): Port {
  return {
    ...boundPort(port),
    join: async ({ topic, onAssigned }) => {
      const { partitions } = (await port.describe([topic]))[0]!;
      onAssigned(Array.from({ length: partitions }, (_, partition) => partition));
      return { leave: () => Promise.resolve() };
    },
  };
}

/** A port that can be cut off: what a worker behind it has not committed by then is lost, as if it had been killed. */
export function mortalPort(port: Port): { port: Port; die: () => void } {
  let dead = false;
  const alive = () => (dead ? Promise.reject(new Error("dead")) : Promise.resolve());
  const writer: Port["writer"] = async (id) => {
    await alive();
    const inner = await port.writer(id);
    return {
      write: (writes) => alive().then(() => inner.write(writes)),
      commit: () => alive().then(() => inner.commit()),
      close: () => inner.close(),
    };
  };
  return { port: { ...boundPort(port), writer }, die: () => (dead = true) };
}

/** A port whose methods can be replaced one by one. */
export function boundPort(port: Port): Port {
  return {
    describe: (topics) => port.describe(topics),
    create: (topics) => port.create(topics),
    bounds: (topic, partition) => port.bounds(topic, partition),
    fetch: (options) => port.fetch(options),
    writer: (id) => port.writer(id),
    send: (writes) => port.send(writes),
    join: (options) => port.join(options),
    close: () => port.close(),
  };
}
