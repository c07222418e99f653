/** What a release promises, in plain words and numbers with units. */
import type { Statement } from "brume";
import type { Meaning } from "../data/example.js";
import { h } from "../look/dom.js";
import { amount, count, span, withUnit } from "../look/format.js";

export function accountView(account: Statement, explanation: string, meaning: Meaning): Node[] {
  const { epsilon, delta, threshold, max, blockLength, levels, noiseScale, stages } = account;
  const release = stages.find(({ stage }) => stage === "release");
  const held = release?.values[0] ?? 0;
  const facts: [string, string][] = [
    [
      "Privacy in all",
      delta === 0 ? `ε = ${epsilon}, δ = 0` : `ε = ${epsilon}, δ = ${delta.toExponential(1)}`,
    ],
    ["Protected", "any one value"],
    ["Held out", `${count(held)} values`],
    ["Threshold θ", threshold === null ? "not chosen yet" : withUnit(threshold, meaning.unit)],
    ["Block", `${span(blockLength, meaning)}`],
    ["Noisy levels", count(levels)],
    ["Noise scale", noiseScale === null ? "–" : withUnit(noiseScale, meaning.sumUnit)],
  ];
  return [
    h(
      "p",
      { class: "lead" },
      `Whoever sees the private stream can hardly tell whether any single value was replaced by another between 0 and ${withUnit(max, meaning.unit)}: `,
      h("strong", {}, `no outcome becomes more than ${amount(Math.exp(epsilon))} times likelier`),
      delta === 0 ? "." : `, up to a chance of ${delta.toExponential(1)}.`,
    ),
    ...(account.private
      ? []
      : [
          h(
            "p",
            { class: "notice" },
            "Noise on this page comes from a seed, so that a link shows the same picture. In real use it is secret; here, whoever knows the seed can remove it.",
          ),
        ]),
    h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h(
      "details",
      {},
      h("summary", {}, "Not protected"),
      h("ul", {}, ...account.notProtected.map((line) => h("li", {}, line))),
    ),
    h("details", {}, h("summary", {}, "The whole account"), h("pre", {}, explanation)),
  ];
}

/** One line about where the arithmetic runs. */
export function coreNote({ core }: Statement): string {
  return core.name === "wasm"
    ? "Core: WebAssembly."
    : "Core: plain JavaScript, because this page may not compile WebAssembly. Same answers, slower.";
}
