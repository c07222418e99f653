/** One of the Workers behind the comparison: has the data, takes one run at a time. */
import { exampleStream, type TrialResult } from "brume-research";
import { type Comparison, type Run, Trials } from "../paper/trials.js";
import type { Source } from "./protocol.js";

export type ToCompare = { readonly begin: Comparison; readonly source: Source } | { readonly run: Run };
export type FromCompare =
  /** @param mean of the true values that are published */
  { readonly run: Run; readonly result: TrialResult; readonly mean: number } | { readonly failed: string };

let trials: Trials | undefined;

addEventListener("message", ({ data: message }: MessageEvent<ToCompare>) => {
  try {
    if ("begin" in message) {
      const { begin, source } = message;
      trials = new Trials(begin, source.kind === "example" ? exampleStream(source.seed) : source.values);
    } else postMessage({ run: message.run, ...trials!.once(message.run) } satisfies FromCompare);
  } catch (error) {
    postMessage({ failed: (error as Error).message } satisfies FromCompare);
  }
});
