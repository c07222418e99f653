/**
 * The time of the service: the clock of the machine, never backwards. A clock that jumps by more than a minute against
 * the time that passed is not followed: it would close periods that are not over, or drop events that are on time.
 */
export interface ClockSource {
  /** Milliseconds since 1970. */
  wall(): number;
  /** Milliseconds that only ever go up at their own pace. */
  steady(): number;
}

export const MACHINE: ClockSource = { wall: () => Date.now(), steady: () => performance.now() };

const MOST_JUMP = 60_000;

export class Clock {
  readonly #source: ClockSource;
  #time = 0;
  #wall: number;
  #steady: number;

  constructor(source: ClockSource = MACHINE) {
    this.#source = source;
    this.#wall = source.wall();
    this.#steady = source.steady();
    this.#time = this.#wall;
  }

  /** Continues after `time`, which the store has. */
  startAfter(time: number): void {
    this.#time = Math.max(this.#time, time);
  }

  /** Milliseconds by which the clock of the machine is behind what is stored; 0 if it is not. */
  get behind(): number {
    return Math.max(0, this.#time - this.#source.wall());
  }

  /** The newest time that `now` gave. */
  get time(): number {
    return this.#time;
  }

  /** The time now; undefined while the clock of the machine is off by a jump. */
  now(): number | undefined {
    const [wall, steady] = [this.#source.wall(), this.#source.steady()];
    if (Math.abs(wall - this.#wall - (steady - this.#steady)) > MOST_JUMP) return undefined;
    this.#wall = wall;
    this.#steady = steady;
    return (this.#time = Math.max(this.#time, Math.floor(wall)));
  }
}
