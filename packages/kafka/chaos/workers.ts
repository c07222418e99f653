/** Worker processes that are killed, stopped and started again while they work. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { until } from "../test/support/workload.js";
import type { ProcessSettings } from "../test/support/workerProcess.js";

export interface Fleet {
  readonly settings: ProcessSettings;
  readonly program: string;
}

/** A report of a process about itself: one line of JSON. */
interface Told {
  readonly error?: string;
  readonly message?: string;
  readonly started?: true;
  readonly frozen?: true;
}

export class WorkerProcess {
  /** Errors that the worker told of, by name. */
  readonly errors = new Map<string, number>();
  readonly messages = new Set<string>();
  #child: ChildProcess | undefined;
  #ended = false;
  readonly #fleet: Fleet;
  readonly #settings: ProcessSettings;
  /** Whether the process says that it has frozen itself. */
  #frozen = false;
  /** Whether the process has started and obeys signals. */
  #started = false;
  #thawed: Promise<void> = Promise.resolve();

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

  /** Makes the wall clock of the process jump by an hour. */
  jumpClock(): void {
    this.#child?.kill("SIGUSR2");
  }

  /**
   * Stops the process without ending it, in a transaction if there is one soon, until `during` is over. By then others
   * have taken its work, and it goes on as if nothing had happened.
   */
  freeze(during: () => Promise<void>): Promise<void> {
    return (this.#thawed = this.#freeze(during));
  }

  async #freeze(during: () => Promise<void>): Promise<void> {
    await until(() => this.#started);
    this.#frozen = false;
    const child = this.#child;
    child?.kill("SIGHUP");
    await until(() => this.#frozen, 2 * this.#settings.freezeWithin).catch(() => child?.kill("SIGSTOP"));
    try {
      await during();
    } finally {
      child?.kill("SIGCONT");
    }
  }

  /** Asks it to finish; kills it if it does not within 20 seconds. */
  async stop(): Promise<void> {
    this.#ended = true;
    await this.#thawed.catch(() => undefined); // its caller gets this error
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
    this.#started = false;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { error, message, started, frozen } = JSON.parse(line) as Told;
      if (started) this.#started = true;
      if (frozen) this.#frozen = true;
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
