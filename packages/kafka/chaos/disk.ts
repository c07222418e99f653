/** A disk that is full: a small file system in memory, filled to its last block. Needs Linux and the right to mount. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Node } from "../broker/broker.js";
import type { Fault } from "./run.js";

export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  empty(): void;
  remove(): void;
}

/** undefined where mounting is not allowed. */
export function smallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "brume-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const filler = join(folder, "filler");
  return {
    folder,
    fill: () => fillUp(filler),
    empty: () => rmSync(filler, { force: true }),
    remove: () => {
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

function fillUp(path: string): void {
  const file = openSync(path, "w");
  const block = Buffer.alloc(1 << 16);
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}

/** Fills the disk of a broker, which stops it; five seconds later there is room again, and the broker starts. */
export function fullDisk(disk: SmallDisk, node: Node): Fault {
  return async () => {
    disk.fill();
    await sleep(5_000);
    disk.empty();
    await node.kill(); // a broker whose only disk failed has ended by itself, or soon will
    await node.start();
  };
}
