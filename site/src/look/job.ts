/** A Worker that may fail to load: the page then says so and offers to try again. */
import { h } from "./dom.js";

export interface Job<In> {
  tell(message: In): void;
  stop(): void;
}

/**
 * @param make `() => new Worker(new URL(…, import.meta.url), { type: "module" })`
 * @param onFail called when the Worker's code could not be loaded or threw
 */
export function startJob<In, Out>(
  make: () => Worker,
  onMessage: (message: Out) => void,
  onFail: () => void,
): Job<In> {
  const worker = make();
  worker.addEventListener("message", ({ data }: MessageEvent<Out>) => onMessage(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    worker.terminate();
    onFail();
  });
  return {
    tell: (message) => worker.postMessage(message),
    stop: () => worker.terminate(),
  };
}

/** "This part of the page could not be loaded. [Try again]" */
export function failureNote(again: () => void): HTMLElement {
  const button = h("button", { type: "button" }, "Try again");
  const note = h(
    "p",
    { class: "failure", role: "alert" },
    "This part of the page could not be loaded. ",
    button,
  );
  button.addEventListener("click", () => {
    note.remove();
    again();
  });
  return note;
}
