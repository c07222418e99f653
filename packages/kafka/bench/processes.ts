/** Worker processes of the bench, and what they say about themselves. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import type { ProcessLine, ProcessSetting } from "./worker.js";

export class BenchProcess {
  /** First line after the first commit, and the newest one. */
  first: ProcessLine | undefined;
  last: ProcessLine | undefined;
  readonly #child: ChildProcess;

  constructor(program: string, setting: ProcessSetting) {
    const child = spawn(process.execPath, [program, JSON.stringify(setting)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text) as ProcessLine;
      if (line.received > 0) this.first ??= line;
      this.last = line;
    });
  }

  /** The first line that is as wanted. */
  async when(wanted: (line: ProcessLine) => boolean): Promise<ProcessLine> {
    while (this.last === undefined || !wanted(this.last)) {
      this.check();
      await sleep(20);
    }
    return this.last;
  }

  /** Throws if the process has ended. */
  check(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error("bench: expected the worker to work, got its end");
  }

  /** With SIGTERM it takes snapshots of everything and leaves; with SIGKILL it dies as it is. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
    await exited;
    clearTimeout(timer);
  }
}

/** Microseconds of processor time per value, without the start of the processes. */
export function processorPerValue(processes: readonly BenchProcess[]): number {
  let [time, values] = [0, 0];
  for (const { first, last } of processes) {
    if (first === undefined || last === undefined) continue;
    time += last.processor - first.processor;
    values += last.received - first.received;
  }
  return time / values;
}
