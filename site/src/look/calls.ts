/** Functions that run in a Worker: `call("name", …)` is a promise of what they return. */

type Functions = Record<string, (...args: never[]) => unknown>;

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

interface Told {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** In the Worker: answers calls of these functions. */
export function answerCalls(functions: Functions): void {
  addEventListener("message", ({ data: { id, name, args } }: MessageEvent<Asked>) => {
    let told: Told;
    try {
      told = { id, result: (functions[name] as (...all: unknown[]) => unknown)(...args) };
    } catch (error) {
      told = { id, error: (error as Error).message };
    }
    postMessage(told);
  });
}

export type Call<F extends Functions> = <K extends keyof F & string>(
  name: K,
  ...args: Parameters<F[K]>
) => Promise<ReturnType<F[K]>>;

/** In the page. A Worker that fails to load rejects what waits, and the next call starts another one. */
export function callsOf<F extends Functions>(make: () => Worker): Call<F> {
  let worker: Worker | undefined;
  let calls = 0;
  const waiting = new Map<
    number,
    { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void }
  >();
  const start = () => {
    worker = make();
    worker.addEventListener("message", ({ data: { id, result, error } }: MessageEvent<Told>) => {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(result as never);
      else call?.reject(new Error(error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      worker = undefined;
      for (const { reject } of waiting.values()) reject(new Error("could not be loaded"));
      waiting.clear();
    });
    return worker;
  };
  return (name, ...args) =>
    new Promise((resolve, reject) => {
      const id = calls++;
      waiting.set(id, { resolve, reject });
      (worker ?? start()).postMessage({ id, name, args } satisfies Asked);
    });
}
