/**
 * The binding of a stream's snapshots: its name and every setting that published numbers depend on. They stand in each
 * snapshot as JSON, the name first: what follows it is encoded once for all streams that share settings.
 */
import { madeOnce } from "../core/madeOnce.js";
import type { Encoder } from "../snapshot/codec.js";
import type { Settings } from "./options.js";
import { checkParameters, type Parameters } from "../snapshot/snapshot.js";
import { smootherName } from "./predict/smoothers/index.js";

const encoder = new TextEncoder();

/** All but the name, up to the end of the text. */
const commonPart = madeOnce((settings: Settings) => {
  const { name: _, ...others } = parametersOf(settings);
  return encoder.encode(`,${JSON.stringify(others).slice(1)}`);
});

/** The beginning of the text, up to the name. */
const namePart = (name: string): Uint8Array => encoder.encode(`{"name":${JSON.stringify(name)}`);

/** Every setting that published numbers depend on, and the stream's name, as text; public. In the order of older snapshots. */
export function parametersOf({ privacy, grid, tree, holdout, output }: Settings): Parameters {
  const { epsilon, variant, threshold, follow, refine, unsafeSeed } = privacy;
  const { min, max, resolution, thresholdStep, candidates } = grid; // `coarsened` and `width` follow from these
  const { maxRange, fanout, ...shape } = tree;
  const { probing, warmStart, idle, choosing, warming } = holdout;
  const shown = {
    ...(min === 0 ? {} : { min }), // omitted where they are not used: older snapshots do not have them
    ...{ epsilon, max, probing, warmStart, idle, choosing, warming, resolution },
    thresholdStep: variant === "default" && thresholdStep === resolution ? 0 : thresholdStep, // so older ones have it
    ...{ candidates, threshold, follow, maxRange, fanout },
    ...shape,
    ...{ smoother: smootherName(output.smoother), variant, name: output.name },
    core: "any", // both give the same answers
    unsafeSeed,
    ...(refine ? { refine } : {}),
  };
  return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, String(value)]));
}

export function writeBinding(writer: Encoder, settings: Settings, name: string): void {
  writer.blob(namePart(name), commonPart(settings));
}

/** Refuses a snapshot that is bound to something else. @param bound what `writeBinding` wrote, or an older version */
export function checkBinding(bound: Uint8Array, settings: Settings, name: string): void {
  const [head, rest] = [namePart(name), commonPart(settings)];
  const same = (part: Uint8Array, from: number) => part.every((byte, i) => byte === bound[from + i]);
  if (bound.length === head.length + rest.length && same(head, 0) && same(rest, head.length)) return;
  const parameters = JSON.parse(new TextDecoder().decode(bound)) as Parameters;
  checkParameters(parameters, { ...parametersOf(settings), name });
}
