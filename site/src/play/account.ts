/** The promise of a release, in plain words and numbers with units. */
import type { Statement } from "brume";
import { type Meaning, span } from "../data/meaning.js";
import { h } from "../look/dom.js";
import { amount, count, withUnit } from "../look/format.js";

export function accountView(account: Statement, explanation: string, meaning: Meaning): Node[] {
  const { epsilon, delta, threshold, max, blockLength, levels, noiseScale, stages } = account;
  const held = stages.find(({ stage }) => stage === "release")?.values[0] ?? 0;
  const facts: [string, string][] = [
    [
      "Privacy in all",
      delta === 0 ? `ε = ${epsilon}, δ = 0` : `ε = ${epsilon}, δ = ${delta.toExponential(1)}`,
    ],
    ["Protected", "any one value"],
    ["Held out", `${count(held)} values`],
    ["Threshold θ", threshold === null ? "not chosen yet" : withUnit(threshold, meaning.unit)],
    ["Block", span(blockLength, meaning)],
    ["Noisy levels", count(levels)],
    ["Noise scale", noiseScale === null ? "–" : withUnit(noiseScale, meaning.sumUnit)],
  ];
  return [
    h(
      "p",
      { class: "prose" },
      `Replace any single value by another between 0 and ${withUnit(max, meaning.unit)}: `,
      h("strong", {}, `no output becomes more than ${amount(Math.exp(epsilon))} times as likely`),
      delta === 0 ? "." : `, up to a chance of ${delta.toExponential(1)}.`,
    ),
    ...(account.private
      ? []
      : [
          h(
            "p",
            { class: "notice prose" },
            "Noise on this page comes from a seed, so that a link shows the same picture. In real use it is secret; here, anyone who knows the seed can remove it.",
          ),
        ]),
    h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("h3", {}, "Not protected"),
    h("ul", {}, ...account.notProtected.map((line) => h("li", {}, line))),
    h(
      "details",
      {},
      h("summary", {}, "The whole statement"),
      h("pre", { tabindex: "0", role: "region", "aria-label": "The whole statement" }, explanation),
    ),
  ];
}

/** One line about where the arithmetic runs. */
export function coreNote({ core }: Statement): string {
  return core.name === "wasm"
    ? "Core: WebAssembly."
    : "Core: plain JavaScript, because this page may not compile WebAssembly. Same answers, slower.";
}
