/** Bytes of array buffers that are still in use, after a garbage collection. Small arrays on the heap do not count. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function arrayBytes(): number {
  for (let i = 0; i < 3; i++) collect(); // one is not always enough
  return process.memoryUsage().arrayBuffers;
}
