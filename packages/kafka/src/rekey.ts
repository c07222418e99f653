/** Encrypts every stream again under the keyring's current key, so that an older key can be thrown away. */
import { Batch } from "./batch.js";
import { Keyring } from "./keyring.js";
import type { Port } from "./port.js";
import { loadState } from "./partitionState.js";
import { transactionalId } from "./partitionTask.js";
import { taskSettings, type WorkerOptions } from "./worker.js";

/** Streams that one transaction encrypts at most. */
const AT_ONCE = 500;

/**
 * Walks through all partitions. Running workers are fenced for a moment and open again: give them the new keyring
 * first. The old key is still needed by records that compaction has not removed yet.
 * @returns how many streams were encrypted again
 */
export async function rekey(port: Port, options: WorkerOptions): Promise<number> {
  const keys = new Keyring(options.key);
  const shared = await taskSettings(port, options, keys);
  let count = 0;
  for (let partition = 0; partition < shared.facts.partitions; partition++) {
    const settings = { ...shared, place: { group: options.group, partition } };
    const writer = await port.writer(transactionalId(settings));
    const state = await loadState(port, settings, settings.facts, (loading, records) =>
      new Batch(settings, loading).take(records),
    );
    const old = [...state.streams.values()].filter(({ keyId }) => keyId !== keys.current);
    count += old.length;
    for (let at = 0; at < old.length; at += AT_ONCE) {
      const snapshots = await Promise.all(old.slice(at, at + AT_ONCE).map((keyed) => state.encrypt(keyed)));
      await writer.write([{ topic: settings.state, partition, records: [...snapshots, state.manifest()] }]);
      await writer.commit();
    }
    await writer.close();
  }
  return count;
}
