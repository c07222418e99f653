/** Ctrl-C, or being asked to stop: a command ends tidily and says so by its exit code. */

/** Signals that end a command, by their numbers: shells report 128 more. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;

/** The code that throws it has cleaned up. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: Signal) {
    super(signal);
    this.exitCode = 128 + SIGNALS[signal];
  }
}

/** Calls `stop` at the first signal; `reason` is set from then on. */
export function onInterrupt(stop: () => void): { readonly reason: Interrupted | undefined; ignore(): void } {
  let reason: Interrupted | undefined;
  const signals = Object.keys(SIGNALS) as Signal[];
  const hear = (signal: NodeJS.Signals) => {
    reason = new Interrupted(signal as Signal);
    stop();
  };
  for (const signal of signals) process.once(signal, hear);
  return {
    get reason() {
      return reason;
    },
    ignore() {
      for (const signal of signals) process.off(signal, hear);
    },
  };
}
