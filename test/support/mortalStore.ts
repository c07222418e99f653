/** A store whose process is killed at a put of a given number: all further calls fail, until another process begins. */
import type { Store } from "../../src/index.js";

/** @param after whether the put itself takes effect */
export function mortalStore(store: Store, kill: number, after: boolean) {
  let [puts, dead, killed] = [0, false, false];
  const put: Store["put"] = async (...args) => {
    if (dead) throw new Error("killed");
    if (++puts === kill && !killed) {
      dead = killed = true;
      if (after) await store.put(...args);
      throw new Error("killed");
    }
    return store.put(...args);
  };
  const get: Store["get"] = (name) => (dead ? Promise.reject(new Error("killed")) : store.get(name));
  return {
    store: { ...store, put, get },
    alive: () => !dead,
    revive: () => void (dead = false),
    puts: () => puts,
  };
}
