/** Worker processes that are killed, stopped and started again while they work. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import type { ProcessSettings } from "../test/support/workerProcess.js";

/** Milliseconds that a process has to reach a commit, when it shall freeze there. */
export const FREEZE_WITHIN = 500;

export interface Fleet {
  readonly settings: ProcessSettings;
  readonly program: string;
}

export class WorkerProcess {
  /** Errors that the worker told of, by name. */
  readonly errors = new Map<string, number>();
  readonly messages = new Set<string>();
  #child: ChildProcess | undefined;
  #ended = false;
  readonly #fleet: Fleet;
  readonly #settings: ProcessSettings;
  #paused: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, more: Partial<ProcessSettings> = {}) {
    this.#fleet = fleet;
    this.#settings = { ...fleet.settings, ...more };
    this.#start();
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** Signal 9, and a new process at once. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Its wall clock jumps by an hour. */
  jumpClock(): void {
    this.#child?.kill("SIGUSR2");
  }

  /**
   * Stops the process without ending it, between the numbers of a transaction and its commit if there is one soon. When it
   * wakes, others have taken its work, and it commits.
   */
  async freeze(milliseconds: number): Promise<void> {
    const child = this.#child;
    child?.kill("SIGHUP");
    await new Promise((resolve) => setTimeout(resolve, 2 * FREEZE_WITHIN));
    child?.kill("SIGSTOP");
    this.#paused = new Promise((resolve) => setTimeout(resolve, milliseconds));
    await this.#paused;
    child?.kill("SIGCONT");
  }

  /** Asks it to finish; kills it if it does not within 20 seconds. */
  async stop(): Promise<void> {
    this.#ended = true;
    await this.#paused;
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await exited;
    clearTimeout(timer);
  }

  #start(): void {
    const child = spawn(process.execPath, [this.#fleet.program, JSON.stringify(this.#settings)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { error, message } = JSON.parse(line) as { error?: string; message?: string };
      if (error !== undefined) this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
      if (message !== undefined) this.messages.add(message);
    });
    child.on("exit", () => {
      this.#child = undefined;
      if (this.#ended) return;
      this.restarts++;
      this.#start();
    });
  }

  /** Times that the process was started again. */
  restarts = 0;
}
