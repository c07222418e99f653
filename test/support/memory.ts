/** Memory that is still in use after a garbage collection. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of objects on the heap. */
export function heapBytes(): number {
  for (let i = 0; i < 3; i++) collect(); // one is not always enough
  return process.memoryUsage().heapUsed;
}

/** Bytes of array buffers. Small arrays on the heap do not count. */
export function arrayBytes(): number {
  for (let i = 0; i < 3; i++) collect(); // one is not always enough
  return process.memoryUsage().arrayBuffers;
}
