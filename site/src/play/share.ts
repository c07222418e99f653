/** Copies and saves the release: a link, pictures, numbers, code. */
import { asPng, picture, type PictureOptions } from "../charts/picture.js";
import { byId, download, svgFile } from "../look/dom.js";
import type { State } from "./state.js";

export interface Shared {
  /** The program that publishes with these settings. */
  readonly code: string;
  /** The plot as a picture; undefined if nothing is drawn. */
  readonly picture: PictureOptions | undefined;
  /** Hands the published numbers to the visitor. */
  saveCsv(): void;
}

/** @param shown what the page shows at the moment */
export function bindShare(link: () => string, shown: () => Shared): void {
  const click = (id: string, action: () => unknown) =>
    byId(id).addEventListener("click", () => void action());
  click("copy-link", () => copy(link(), "The link is copied."));
  click("copy-code", () => copy(shown().code, "The code is copied."));
  click("save-csv", () => shown().saveCsv());
  click("save-svg", () => {
    const options = shown().picture;
    if (options) download("brume.svg", svgFile(picture(options)));
  });
  click("save-png", async () => {
    const options = shown().picture;
    if (options) download("brume.png", await asPng(picture(options)));
  });
}

export const saveCsv = (file: Blob): void => download("private-stream.csv", file);

async function copy(text: string, done: string): Promise<void> {
  const note = byId("share-status");
  try {
    await navigator.clipboard.writeText(text);
    note.textContent = done;
  } catch {
    note.textContent = text; // no clipboard here: to be copied by hand
  }
}

/** The program that publishes with these settings. */
export function codeOf({
  epsilon,
  max,
  holdout,
  maxRange,
  method,
  smoother,
  blocks,
  alpha,
  skip,
}: State): string {
  const research = method === "pak" || method === "naive";
  const chosen = { recent: "", mean: '"mean"', median: '"median"' };
  const smoothed =
    smoother === "moving"
      ? `{ moving: ${blocks} }`
      : smoother === "exponential"
        ? `{ exponential: ${alpha} }`
        : chosen[smoother];
  const skipped = skip === "auto" ? "" : skip === "paper" ? '"paper"' : skip;
  const options = [
    `epsilon: ${epsilon}`,
    `max: ${max}`,
    `holdout: ${holdout}`,
    `maxRange: ${maxRange}`,
    ...(research ? [`method: "${method === "pak" ? "pak" : "flat"}"`] : []),
    ...(method === "paper" ? ['variant: "paper"'] : []),
    ...(!research && smoothed !== "" ? [`smoother: ${smoothed}`] : []),
    ...(!research && skipped !== "" ? [`tuning: { skipLevels: ${skipped} }`] : []),
  ];
  const [name, from] = research ? ["comparison", "brume-research"] : ["privateStream", "brume"];
  return `import { ${name} } from "${from}";

const stream = ${name}({ ${options.join(", ")} });

// For every value, as it comes: publish this instead. It is undefined during the hold-out.
const publish = (value) => stream.push(value);

// Sum and mean of any range of published positions, with error bars.
const ask = (from, to) => stream.range(from, to);
`;
}
