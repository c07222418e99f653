/** How many bytes a thing keeps alive, by collecting garbage before and after it is made. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** @param make twice: the first time makes the tables and code that all later ones share */
export function keptBytes(make: () => object): number {
  warmUp(make);
  const before = liveBytes();
  const kept = [make()];
  const after = liveBytes();
  kept.length = 0; // alive until here
  return Math.max(0, after - before);
}

/** A call of its own: what it made is out of reach when it returns. */
function warmUp(make: () => object): void {
  make();
}

/** Buffers of one collection are given back before the next one begins, and work of others may still be there: until nothing more goes. */
const MOST_COLLECTIONS = 30;
/** As many in a row that free nothing. */
const STABLE = 3;
let collect: (() => void) | undefined;

function liveBytes(): number {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  let least = Infinity;
  for (let i = 0, same = 0; i < MOST_COLLECTIONS && same < STABLE; i++) {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    same = heapUsed + arrayBuffers < least ? 0 : same + 1;
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}
