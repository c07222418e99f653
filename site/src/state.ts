/** Everything a visitor can set, and how it stands in the page's address: a link shows the same picture. */

export interface State {
  readonly view: "live" | "devices" | "compare";
  /** Of the example stream and, unless `noise` is "secret", of all noise. */
  readonly seed: string;
  readonly noise: "seed" | "secret";
  readonly epsilon: number;
  readonly max: number;
  readonly holdout: number;
  readonly maxRange: number;
  readonly smoother: "recent" | "mean" | "median" | "moving" | "exponential";
  /** Blocks averaged by "moving". */
  readonly blocks: number;
  /** α of "exponential". */
  readonly alpha: number;
  readonly skip: "auto" | "paper" | "0" | "1" | "2" | "3" | "4" | "5";
  readonly variant: "ours" | "paper" | "pak";
  /** Values in the moving averages of the plot. */
  readonly window: number;
  /** Values per second; 0 is paused. */
  readonly speed: number;
  /** Where a paused stream stands; 0 is its usual start. */
  readonly at: number;
  /** The range asked for, in positions of the stream; empty when from = to. */
  readonly from: number;
  readonly to: number;
  readonly devices: number;
  readonly deviceEpsilon: number;
  /** Share of the devices that teach the distribution, in percent. */
  readonly learners: number;
  readonly estimator: "em" | "ems";
  readonly methods: string;
  readonly epsilons: string;
  readonly repeat: number;
  readonly queries: number;
}

interface Field<T> {
  readonly initial: T;
  /** The value a text stands for, or `undefined` if it stands for none. */
  read(text: string): T | undefined;
}

const number = (initial: number, least: number, most: number, whole = true): Field<number> => ({
  initial,
  read(text) {
    const value = Number(text);
    const fits = text.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value));
    return fits ? value : undefined;
  },
});

const choice = <T extends string>(...words: readonly [T, ...T[]]): Field<T> => ({
  initial: words[0],
  read: (text) => words.find((word) => word === text),
});

const text = (initial: string, pattern: RegExp): Field<string> => ({
  initial,
  read: (given) => (pattern.test(given) ? given : undefined),
});

export const FIELDS: { readonly [K in keyof State]: Field<State[K]> } = {
  view: choice("live", "devices", "compare"),
  seed: text("brume", /^.{1,64}$/),
  noise: choice("seed", "secret"),
  epsilon: number(0.05, 0.001, 10, false),
  max: number(1000, 1e-6, 1e9, false),
  holdout: number(2 ** 16, 16, 2 ** 22),
  maxRange: number(2 ** 20, 2 ** 8, 2 ** 24),
  smoother: choice("recent", "mean", "median", "moving", "exponential"),
  blocks: number(4, 1, 4096),
  alpha: number(0.6, 0.01, 1, false),
  skip: choice("auto", "paper", "0", "1", "2", "3", "4", "5"),
  variant: choice("ours", "paper", "pak"),
  window: number(7200, 1, 2 ** 20),
  speed: number(50_000, 0, 1e7),
  at: number(0, 0, 2 ** 24),
  from: number(0, 0, 2 ** 24),
  to: number(0, 0, 2 ** 24),
  devices: number(500_000, 10_000, 1_000_000),
  deviceEpsilon: number(1, 0.1, 10, false),
  learners: number(20, 1, 90),
  estimator: choice("em", "ems"),
  methods: text("tops,paper,pak", /^[a-z0-9-]+(,[a-z0-9-]+)*$/i),
  epsilons: text("0.02,0.05,0.1,0.2,0.5,1", /^[0-9.]+(,[0-9.]+)*$/),
  repeat: number(5, 2, 100),
  queries: number(200, 10, 2000),
};

const KEYS = Object.keys(FIELDS) as (keyof State)[];

export const initialState = (): State => readState("");

/** Fields of a query string; what does not fit is left at its default. */
export function readState(query: string): State {
  const given = new URLSearchParams(query);
  const found: Partial<Record<keyof State, State[keyof State]>> = {};
  for (const key of KEYS) {
    const raw = given.get(key);
    found[key] = (raw === null ? undefined : FIELDS[key].read(raw)) ?? FIELDS[key].initial;
  }
  return found as State;
}

/** The query string of a state: only what differs from the defaults. */
export function writeState(state: State): string {
  const query = new URLSearchParams();
  for (const key of KEYS) if (state[key] !== FIELDS[key].initial) query.set(key, String(state[key]));
  return query.toString();
}

type Listener = (state: State, before: State) => void;

/** The one place where state lives; listeners hear of every change, and the address follows. */
export class Store {
  #state: State;
  readonly #listeners: Listener[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  set(change: Partial<State>): void {
    const before = this.#state;
    if ((Object.keys(change) as (keyof State)[]).every((key) => change[key] === before[key])) return;
    this.#state = { ...before, ...change };
    for (const listener of this.#listeners) listener(this.#state, before);
  }

  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }
}
