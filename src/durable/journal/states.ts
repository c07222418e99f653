/** Which state may follow which, by name. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** A state that changes only as its table allows. */
export class States<T extends Transitions> {
  // Parameters
  readonly #subject: string;
  readonly #transitions: T;
  // State
  #current: keyof T & string;

  /** @param subject who has the state, for the message of a change that the table does not have */
  constructor(subject: string, transitions: T, first: keyof T & string) {
    this.#subject = subject;
    this.#transitions = transitions;
    this.#current = first;
  }

  get current(): keyof T & string {
    return this.#current;
  }

  enter(next: keyof T & string): void {
    if (!this.#transitions[this.#current]!.includes(next))
      throw new Error(`${this.#subject}: expected a state that allows "${next}", got "${this.#current}"`);
    this.#current = next;
  }
}
