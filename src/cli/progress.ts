/** A bar with rate and time left on a terminal; silent anywhere else. */
import { clearLine, cursorTo } from "node:readline";
import { isQuiet } from "./tell.js";

const WIDTH = 24;
const EVERY_MS = 100;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #unit: string;
  readonly #started = performance.now();
  #shown = 0;

  constructor(unit: string, stream: NodeJS.WriteStream = process.stderr) {
    this.#unit = unit;
    this.#stream = stream;
  }

  /**
   * @param count of units so far
   * @param share done, 0 to 1, or undefined where the end is unknown
   */
  show(count: number, share?: number): void {
    const now = performance.now();
    if (!this.#stream.isTTY || isQuiet() || now - this.#shown < EVERY_MS) return;
    this.#shown = now;
    const seconds = (now - this.#started) / 1000;
    const rate = `${format(count)} ${this.#unit}, ${format(count / seconds)}/s`;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
    this.#stream.write(
      share === undefined || share <= 0 ? rate : `${bar(share)} ${rate}, ${left(seconds, share)} left`,
    );
  }

  clear(): void {
    if (!this.#stream.isTTY || isQuiet()) return;
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
  }
}

function bar(share: number): string {
  const full = Math.round(WIDTH * Math.min(1, share));
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${String(Math.round(100 * share)).padStart(3)} %`;
}

function left(seconds: number, share: number): string {
  const rest = Math.ceil((seconds * (1 - share)) / share);
  return rest < 60 ? `${rest} s` : `${Math.floor(rest / 60)} min ${rest % 60} s`;
}

function format(count: number): string {
  return count < 1e4
    ? String(Math.round(count))
    : count < 1e6
      ? `${(count / 1e3).toFixed(0)} k`
      : `${(count / 1e6).toFixed(2)} M`;
}
