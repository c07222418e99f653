/** Settings of a page, kept in its address: a link shows the same picture, and "back" restores the settings before. */

export interface Field<T> {
  readonly initial: T;
  /** The value a text stands for, or `undefined` if it stands for none. */
  read(text: string): T | undefined;
}

export type Fields<S> = { readonly [K in keyof S]: Field<S[K]> };

export const numberField = (initial: number, least: number, most: number, whole = true): Field<number> => ({
  initial,
  read(text) {
    const value = Number(text);
    const fits = text.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value));
    return fits ? value : undefined;
  },
});

export const choiceField = <T extends string>(...words: readonly [T, ...T[]]): Field<T> => ({
  initial: words[0],
  read: (text) => words.find((word) => word === text),
});

export const textField = (initial: string, pattern: RegExp): Field<string> => ({
  initial,
  read: (given) => (pattern.test(given) ? given : undefined),
});

/** Fields of a query string; what does not fit is left at its default. */
export function readState<S>(fields: Fields<S>, query: string): S {
  const given = new URLSearchParams(query);
  const found: Partial<S> = {};
  for (const key in fields) {
    const raw = given.get(key);
    found[key] = (raw === null ? undefined : fields[key].read(raw)) ?? fields[key].initial;
  }
  return found as S;
}

/** The query string of a state: only what differs from the defaults. */
export function writeState<S>(fields: Fields<S>, state: S): string {
  const query = new URLSearchParams();
  for (const key in fields) if (state[key] !== fields[key].initial) query.set(key, String(state[key]));
  return query.toString();
}

type Listener<S> = (state: S, before: S) => void;

/** The one place where state lives; listeners hear of every change. */
export class Store<S extends object> {
  readonly fields: Fields<S>;
  readonly #listeners: Listener<S>[] = [];
  #state: S;

  constructor(fields: Fields<S>, query: string) {
    this.fields = fields;
    this.#state = readState(fields, query);
  }

  get state(): S {
    return this.#state;
  }

  set(change: Partial<S>): void {
    const before = this.#state;
    if ((Object.keys(change) as (keyof S)[]).every((key) => change[key] === before[key])) return;
    this.#state = { ...before, ...change };
    for (const listener of this.#listeners) listener(this.#state, before);
  }

  subscribe(listener: Listener<S>): void {
    this.#listeners.push(listener);
  }
}

/** Milliseconds after the last change at which the address gets a new entry of the history: a slide is one entry. */
const SETTLED = 400;

/** The address follows the state; back and forward bring an earlier state back. */
export function bindAddress<S extends object>(store: Store<S>): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let travelling = false;
  store.subscribe(() => {
    if (travelling) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = addressOf(store);
      if (address !== location.href) history.pushState(null, "", address);
    }, SETTLED);
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    travelling = true;
    store.set(readState(store.fields, location.search));
    travelling = false;
  });
}

/** The link to this page with this state. */
export function addressOf<S extends object>(store: Store<S>): string {
  const query = writeState(store.fields, store.state);
  return `${location.origin}${location.pathname}${query === "" ? "" : `?${query}`}`;
}
