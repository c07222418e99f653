/**
 * Makes the n-th allocation, kernel call, smoother call, store call or clock read fail, and runs a scenario for every n.
 */
import type { Store } from "../../src/durable/stores/store.js";

/** Error of an injected fault: a class of its own, so that no other error is taken for it. */
export class Fault extends Error {}

/** Counts down to the call that fails. Counts on after it, and fails no other. */
export class Countdown {
  #left: number;

  /** @param n the call that fails, from 1 on; Infinity for none */
  constructor(n: number) {
    this.#left = n;
  }

  /** Whether the fault has come. */
  get over(): boolean {
    return this.#left <= 0;
  }

  /** One call; true for the one that fails. */
  strikes(): boolean {
    return --this.#left === 0;
  }

  step(): void {
    if (this.strikes()) throw new Fault("injected");
  }
}

/**
 * Runs `scenario` with the first call failing, then with the second, and so on, until no call is left to fail.
 * @param width how many run at the same time: for scenarios that mostly wait, and have nothing in common
 * @param stride for scenarios of thousands of calls that are alike: one call in so many fails
 * @returns how many calls failed in turn
 */
export async function everyFault(
  scenario: (fault: Countdown) => void | Promise<void>,
  width = 1,
  stride = 1,
): Promise<number> {
  for (let n = 1; ; n += width * stride) {
    const faults = Array.from({ length: width }, (_, i) => new Countdown(n + i * stride));
    await Promise.all(faults.map(async (fault) => scenario(fault)));
    const left = faults.findIndex((fault) => !fault.over);
    if (left >= 0) return (n - 1) / stride + left;
  }
}

const ARRAYS = ["Array", "Float64Array", "Uint32Array", "Uint16Array", "Uint8Array"] as const;

/** Runs `act` while allocations count: of arrays, of copies of them, and of WebAssembly memory. */
export function failingAllocations<T>(fault: Countdown, act: () => T): T {
  const undo = countAllocations(fault);
  try {
    return act();
  } finally {
    undo();
  }
}

/** Runs the asynchronous `act` while allocations count, until its promise has settled. */
export async function failingLaterAllocations<T>(fault: Countdown, act: () => Promise<T>): Promise<T> {
  const undo = countAllocations(fault);
  try {
    return await act();
  } finally {
    undo();
  }
}

/** @returns what ends the counting */
function countAllocations(fault: Countdown): () => void {
  const restore: (() => void)[] = [];
  const replace = (owner: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)!;
    Object.defineProperty(owner, name, { ...before, value });
    restore.push(() => Object.defineProperty(owner, name, before));
  };
  const counted = <A extends unknown[], R>(method: (this: unknown, ...args: A) => R) =>
    function (this: unknown, ...args: A): R {
      fault.step();
      return method.apply(this, args);
    };
  for (const name of ARRAYS)
    replace(
      globalThis,
      name,
      new Proxy(globalThis[name], {
        construct(target, args: unknown[]) {
          if (
            !ArrayBuffer.isView(args[0]) &&
            typeof args[0] === "object" &&
            "byteLength" in (args[0] as object)
          )
            return Reflect.construct(target, args) as object; // a view takes no memory
          fault.step();
          return Reflect.construct(target, args) as object;
        },
      }),
    );
  for (const [owner, name] of [
    [Object.getPrototypeOf(Float64Array.prototype) as object, "slice"],
    [WebAssembly.Memory.prototype, "grow"],
  ] as const)
    replace(owner, name, counted(Reflect.get(owner, name) as (this: unknown, ...args: unknown[]) => unknown));
  return () => {
    for (const undo of restore.reverse()) undo();
  };
}

/** Runs `act` while the methods of a core count that others have got hold of already. */
export async function failingMethods<T>(
  core: object,
  fault: Countdown,
  when: "before" | "after",
  act: () => Promise<T>,
): Promise<T> {
  const honest = { ...core };
  const failing = failingCore(honest, fault, when);
  for (const name of Object.keys(honest))
    Object.assign(core, { [name]: Reflect.get(failing, name) as unknown });
  try {
    return await act();
  } finally {
    Object.assign(core, honest);
  }
}

/** A core whose n-th call fails: before it does anything, or after it has done all of it. */
export function failingCore<C extends object>(core: C, fault: Countdown, when: "before" | "after"): C {
  return new Proxy(core, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const strikes = fault.strikes();
        if (strikes && when === "before") throw new Fault("injected");
        const result = Reflect.apply(member, target, args) as unknown;
        if (strikes) throw new Fault("injected");
        return result;
      };
    },
  });
}

/** A caller's function whose n-th call fails. */
export function failingFunction<A extends unknown[], R>(
  run: (...args: A) => R,
  fault: Countdown,
): (...args: A) => R {
  return (...args) => {
    fault.step();
    return run(...args);
  };
}

/** A store whose n-th call fails: before it does anything, or after it has done all of it. */
export function failingStore(store: Store, fault: Countdown, when: "before" | "after"): Store {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return async (...args: unknown[]): Promise<unknown> => {
        const strikes = fault.strikes();
        if (strikes && when === "before") throw new Fault("injected");
        const result = (await Reflect.apply(member, target, args)) as unknown;
        if (strikes) throw new Fault("injected");
        return result;
      };
    },
  });
}

/** Runs `act` while reads of the clock count. */
export async function failingClock<T>(fault: Countdown, act: () => Promise<T>): Promise<T> {
  const [now, date] = [performance.now.bind(performance), Date.now];
  performance.now = failingFunction(now, fault);
  Date.now = failingFunction(date, fault);
  try {
    return await act();
  } finally {
    performance.now = now;
    Date.now = date;
  }
}
