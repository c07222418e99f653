/** Closes the periods of a hub whenever they are due, by its clock, in commits of their own that no event delays. */
import type { CommitQueue } from "./commitQueue.js";
import type { EventHubSettings } from "./eventHubOptions.js";
import type { ClosedSpan } from "./hubMetric.js";

/** Numbers appear so many milliseconds after their period's time: commits of events do not shift them. */
const BEAT = 250;
/** Before a beat no other commit begins. */
const QUIET = 50;

export class Beat {
  // Parameters
  readonly #settings: EventHubSettings;
  readonly #queue: CommitQueue;
  readonly #advance: () => Promise<readonly ClosedSpan[]>;
  // State
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  /** @param advance closes the periods that are due */
  constructor(settings: EventHubSettings, queue: CommitQueue, advance: () => Promise<readonly ClosedSpan[]>) {
    this.#settings = settings;
    this.#queue = queue;
    this.#advance = advance;
  }

  /** @param onError is told what went wrong; the next try comes with the next period */
  start(
    onClosed: (closed: readonly ClosedSpan[]) => void = () => undefined,
    onError: (error: unknown) => void = rethrow,
  ): void {
    clearTimeout(this.#timer);
    const beat = (): void => {
      if (this.#queue.busy) return this.#later(quiet, BEAT - QUIET); // a commit ran over: with the next beat
      void this.#advance()
        .then(onClosed)
        .catch(onError)
        .finally(() => this.#isStopped || next());
    };
    const quiet = (): void => {
      this.#queue.beQuiet(QUIET);
      this.#later(beat, QUIET);
    };
    const next = (): void => this.#later(quiet, this.#untilDue() + BEAT - QUIET);
    next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  #later(run: () => void, wait: number): void {
    this.#timer = setTimeout(run, Math.min(Math.max(0, wait), 2 ** 30));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Milliseconds until some period is due. */
  #untilDue(): number {
    const { clock, metrics, calendar } = this.#settings;
    const now = clock();
    const waits = [...metrics.values()].map(({ events: { schedule } }) => {
      const every = schedule.levels[0]!;
      const at = now - schedule.lateness;
      const day = calendar.dayAt(at);
      return Math.min(day.end - at, every - ((at - day.start) % every));
    });
    return Math.min(...waits);
  }
}

function rethrow(error: unknown): never {
  throw error;
}
