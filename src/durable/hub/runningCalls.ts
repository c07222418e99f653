/** The calls of a hub that are running: closing waits for them, and later ones are refused. */
export class RunningCalls {
  #count = 0;
  #whenIdle: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** A call that begins must end, also if it fails. */
  begin(): void {
    if (this.closed)
      throw new Error("hub: expected an open hub, got a closed one; make another one on the same store");
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#whenIdle?.();
  }

  /** Ends once, however often it is asked to. @param finish runs when no call is left */
  close(finish: () => Promise<void>): Promise<void> {
    return (this.#closed ??= this.#closeAll(finish));
  }

  async #closeAll(finish: () => Promise<void>): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await finish();
  }
}
