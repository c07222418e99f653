/** Finished files in the recorder: θ has a share of ε of its own, and every row is read twice. */
import { EventFile } from "../../src/cli/eventFile.js";
import { resolveEvents } from "../../src/events/options.js";
import { compare, Ledger, type Plant, Recording } from "./recorder.js";
import type { EventCase, Result } from "./recorderCases.js";
import { recorded } from "./recorderHooks.js";
import { eventWeights } from "./recorderWeights.js";

/** Runs a file as `brume release` does: θ by all rows, if it is chosen, then all rows once more. Returns whether it published. */
function release({ options, start, steps }: EventCase, more: boolean): boolean {
  const { holdout: _, skew: __, ...rest } = options as unknown as Record<string, unknown>;
  const end = steps.reduce((last, step) => (step.do === "event" ? last : Math.max(last, step.now)), start);
  const file = EventFile.begin({ options: rest, flags: {}, keys: undefined, from: start, columns: {} }, end);
  const takeAll = (): void => {
    for (const step of steps)
      if (step.do === "event" && (more || !step.neighbour)) {
        const { at, value, person } = step.event;
        file.take({ at, value, person, group: undefined });
      }
  };
  if (file.choosesThreshold) {
    takeAll();
    if (!file.metric.chooseFinished()) return false;
  }
  takeAll();
  file.close(file.endBy(end), () => undefined);
  return true;
}

export async function checkFile(own: EventCase, plant?: Plant): Promise<Result> {
  const settings = resolveEvents(own.options, true);
  const isChosen = settings.grid !== undefined && settings.grid.threshold === undefined;
  const kinds = new Set<string>();
  const run = async (more: boolean): Promise<Recording> => {
    const recording = new Recording({ real: own.real, ledger: new Ledger(), ...(plant && { plant }) });
    await recorded(recording, eventWeights(settings), () => {
      if (release(own, more)) kinds.add(isChosen ? "finished file, θ chosen" : "finished file");
      return Promise.resolve();
    });
    return recording;
  };
  const [a, b] = [await run(false), await run(true)];
  const { faults, share } = compare(a, b, own.options.epsilon);
  return { kinds: [...kinds], share, faults };
}
