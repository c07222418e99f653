/** The seven steps: each asks the library, shows the answer on the stage, and says one sentence about it. */
import { intervalBar } from "../charts/intervalBar.js";
import type { Call } from "../look/calls.js";
import { byId, h } from "../look/dom.js";
import { amount, count, duration, percent } from "../look/format.js";
import { absence, METER, STORY_DAY } from "./meter.js";
import type { Questions } from "./questions.js";
import { clock, dayWords, energyWords, type Stage } from "./stage.js";
import { cover, drawTree, LEAVES } from "./treeView.js";

const DAY = 1440; // minutes

/** Watt minutes as kilowatt hours. */
const kWh = (wattMinutes: number) => `${amount(Number((wattMinutes / 60_000).toPrecision(4)))}\u00a0kWh`;

export interface Context {
  readonly call: Call<Questions>;
  readonly stage: Stage;
  readonly epsilon: () => number;
  /** The visitor's choice, by the name of the control. */
  readonly chosen: (name: string) => string;
}

const value = (id: string) => Number(byId<HTMLInputElement>(id).value);
const say = (id: string, ...words: (Node | string)[]) => byId(id).replaceChildren(...words);
const big = (text: string) => h("span", { class: "big" }, text);

/** Watts at the top of the day's picture. */
const TOP = 3200;

/** 0: one day, raw or published. Published, the raw readings are not drawn at all: even in a mist one sees the gap. */
export async function oneDay({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const { raw, published, block, sum, low, high, truth } = await call("day", epsilon());
  const isRaw = chosen("shown") === "raw";
  const none = new Float64Array(DAY).fill(NaN);
  const x = Float64Array.from({ length: DAY }, (_, i) => i + 1);
  const [secret, shown] = isRaw ? [raw, none] : [none, published];
  stage.lines(
    "day",
    { x, secret, private: shown, low: none, high: none },
    { words: dayWords, from: 0, to: DAY, fogged: false, top: TOP },
  );
  const outside = (isRaw ? raw : published).filter((watts) => watts < 0 || watts > TOP).length;
  const cut =
    outside === 0
      ? ""
      : ` The picture ends at 0 and ${amount(TOP)} W; ${count(outside)} numbers are outside.`;
  stage.note(
    (isRaw
      ? "Day 31, one reading a minute: anyone can see who is home."
      : `Published instead: a prediction for ${duration(block * 60)}, then a jump that corrects the sum.`) +
      cut,
  );
  const { left, back } = absence(STORY_DAY)!;
  byId("gap-length").textContent = amount(back - left);
  byId("gap-epsilon").textContent =
    `ε = ${amount(back - left)} · ${epsilon()} = ${amount((back - left) * epsilon())}`;
  say(
    "day-say",
    "Sum of all seven weeks: ",
    big(percent(Math.abs(sum - truth) / truth)),
    ` off, at ε\u00a0=\u00a0${epsilon()}. With 95 % probability the noise moves it by at most ${percent((high - low) / 2 / truth)}; what a cap cuts off comes on top, as step 2 shows.`,
  );
}

/** Whether a click on the raw readings found the gap. */
export function answerGap(minute: number): string {
  const { left, back } = absence(STORY_DAY)!;
  return minute >= left && minute < back
    ? `Right. They left at ${clock(left)} and came back at ${clock(back)}. The raw stream tells everybody.`
    : `At ${clock(minute)} somebody was home. Look for the long quiet part.`;
}

/** Guesses the gap from the published numbers, and says how often such a guess is right. */
export async function answerGuess({ call, epsilon }: Context): Promise<string> {
  const { left, back } = absence(STORY_DAY)!;
  const { from, to, releases, right, blind } = await call("guess", epsilon());
  return (
    `The quietest ${duration(60 * (to - from))} of the day are from ${clock(from)} on here; they left at ${clock(left)} and came back at ${clock(back)}. ` +
    `In ${right} of ${releases} releases with other noise such a guess is right within an hour; without any numbers it would be in ${Math.round(releases * blind)}.` +
    (right > (releases * (1 + blind)) / 2 ? " At this ε the gap shows." : "")
  );
}

/** 1: the error of a sum grows with its range. */
export async function everyValue({ call, stage, epsilon }: Context): Promise<void> {
  const points = await call("everyValue", epsilon());
  const chosen = points[value("length")]!;
  const length = (minutes: number) => duration(60 * minutes);
  stage.curves((width, height) => ({
    width,
    height,
    named: true,
    xLabel: "length of the range",
    yLabel: "standard error of the sum, kWh",
    xTicks: [1, 10, 60, 360, DAY, 7 * DAY, 45 * DAY],
    xText: length,
    yText: (y) => amount(y),
    marks: [{ x: chosen.length, name: length(chosen.length), colour: "ink" }],
    curves: [
      {
        name: "Brume",
        look: 0,
        points: points.flatMap((p) => (p.ours === undefined ? [] : [{ x: p.length, y: p.ours / 60_000 }])),
      },
      {
        name: "noise on every value",
        look: 1,
        points: points.map((p) => ({ x: p.length, y: p.naive / 60_000 })),
      },
      {
        name: "",
        look: 6,
        loose: true,
        points: points.map((p) => ({ x: p.length, y: p.naiveOff / 60_000 })),
      },
    ],
  }));
  stage.note(
    `Lines: the standard error. Grey triangles: how far one release with noise on every value is off; that noise hides readings of up to ${amount(METER.max)} W.`,
  );
  say(
    "length-say",
    `${length(chosen.length)}: standard error `,
    big(kWh(chosen.naive)),
    chosen.ours === undefined
      ? ". Brume, at the end of this story, has no sum of less than a block."
      : `. Brume, at the end of this story: ${kWh(chosen.ours)}, and what its cap cuts off, as step 2 shows.`,
  );
}

/** 2: the cap. */
export async function theCap({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const { points, chosen: privately } = await call("cap", epsilon());
  const point = points[value("theta")]!;
  const total = (p: { noise: number; cut: number }) => p.noise + p.cut;
  const best = points.reduce((a, b) => (total(b) < total(a) ? b : a));
  const revealed = chosen("cap-choice") === "true";
  stage.curves((width, height) => ({
    width,
    height,
    named: true,
    xLabel: "θ, the cap, in watts",
    yLabel: "error of a week's sum, kWh",
    xTicks: [100, 200, 500, 1000, 2000, 5000, 10_000],
    xText: (x) => amount(x),
    yText: (y) => amount(y),
    marks: [
      { x: point.theta, name: `your θ: ${amount(point.theta)} W`, colour: "ink" },
      ...(revealed
        ? [{ x: privately, name: `private choice: ${amount(privately)} W`, colour: "private" as const }]
        : []),
    ],
    curves: [
      { name: "noise", look: 0, points: points.map((p) => ({ x: p.theta, y: p.noise / 60_000 })) },
      {
        name: "cut off",
        look: 4,
        points: points.filter((p) => p.cut > 0).map((p) => ({ x: p.theta, y: p.cut / 60_000 })),
      },
    ],
  }));
  stage.note("Noise grows with θ. What is cut off shrinks.");
  const most = Math.max(...points.map(total));
  const row = (name: string, kind: string, size: number) => {
    const bar = h("i", { class: kind });
    bar.style.width = `${Math.max(0.5, (100 * size) / most)}%`;
    return h("div", { class: "bar-row" }, h("span", {}, name), h("span", {}, bar), h("b", {}, kWh(size)));
  };
  byId("cap-bars").replaceChildren(row("noise", "noise", point.noise), row("cut off", "cut", point.cut));
  const near = total(point) < 1.15 * total(best);
  say(
    "cap-say",
    near
      ? "That is about the best cap."
      : point.theta > best.theta
        ? "Too much noise: lower it."
        : "Too much is cut off: raise it.",
    ...(revealed
      ? [` The library chose ${amount(privately)} W with noise, from held-out readings only.`]
      : []),
  );
}

/** 3: a range needs few nodes. */
export async function theTree({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const { drawn } = await call("tree", epsilon(), chosen("tree"));
  const [a, b] = [value("tree-from"), value("tree-to")];
  const [from, to] = [Math.min(a, b), Math.max(a, b, Math.min(a, b) + 1)];
  const nodes = cover(from, to);
  stage.tree((width, height) => drawTree(drawn, new Set(nodes), { width, height, range: [from, to] }));
  byId("tree-from-say").textContent = String(from + 1);
  byId("tree-to-say").textContent = String(to);
  stage.note("A bar is the noise of its node: up adds, down takes away.");
  const sum = nodes.reduce((all, node) => all + drawn[node]!, 0);
  say(
    "tree-say",
    `${to - from} blocks: `,
    big(`${nodes.length} ${nodes.length === 1 ? "node" : "nodes"}`),
    ` instead of ${to - from}. Their noise adds up to ${kWh(sum)}.`,
  );
}

/** 4: consistency. */
export async function consistency({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const found = await call("tree", epsilon(), chosen("tree"));
  const share = value("slide") / 100;
  const noise = found.drawn.map((start, node) => start + share * (found.consistent[node]! - start));
  const top = noise.length - 1;
  const children = noise.slice(LEAVES, top).reduce((a, b) => a + b, 0);
  const lit = new Set([top, ...Array.from({ length: 4 }, (_, i) => LEAVES + i)]);
  stage.tree((width, height) => drawTree(noise, lit, { width, height }));
  stage.note(
    `Top: ${kWh(noise[top]!)}. Its four children together: ${kWh(children)}. ${share === 1 ? "They agree." : ""}`,
  );
  say(
    "slide-say",
    "Error of one block over 200 trees: ",
    `${kWh(found.leafDrawn)} as drawn, `,
    big(`${kWh(found.leafConsistent)}`),
    " when consistent.",
  );
}

/** 5: predictions and jumps, as a running sum. */
export async function smoothing({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const smoother = chosen("smoother") as "recent" | "mean" | "median";
  const { block, from, added, truth, largestJump, off } = await call("smoothing", epsilon(), smoother);
  const inKWh = (line: Float64Array) => line.map((wattMinutes) => wattMinutes / 60_000);
  const none = new Float64Array(added.length).fill(NaN);
  /** The straight way from one block's end to the next. */
  const settled = added.map((_, i) => {
    const start = i - (i % block);
    const [a, b] = [added[start - 1] ?? 0, added[start + block - 1]!];
    return a + ((b - a) * ((i % block) + 1)) / block;
  });
  stage.lines(
    "blocks",
    {
      x: Float64Array.from(added, (_, i) => from + i + 1),
      secret: inKWh(truth),
      private: inKWh(settled),
      low: none,
      high: none,
      prediction: inKWh(added),
    },
    {
      words: energyWords,
      from,
      to: from + added.length,
      fogged: true,
      top: (1.06 * Math.max(...added, ...truth)) / 60_000,
    },
  );
  stage.note(
    `Dashed: what is published, added up as it comes. It jumps to the solid line where a block of ${duration(60 * block)} ends.`,
  );
  say(
    "smooth-say",
    "A prediction is off by ",
    big(`${amount(off)}\u00a0W`),
    ` on average. The largest jump here: ${kWh(largestJump)}.`,
  );
}

/** 6: the result, as a card and as code. */
export async function theResult({ call, stage, epsilon, chosen }: Context): Promise<void> {
  const { lines, sum, low, high, clamped, truth } = await call("result", epsilon());
  const line = (at: (point: (typeof lines)[number]) => number) =>
    Float64Array.from(lines, (point) => at(point) / 60_000);
  const peeking = chosen("story-peek") === "true";
  document.body.classList.toggle("fogged", !peeking);
  stage.lines(
    "weeks",
    {
      x: Float64Array.from(lines, ({ to }) => METER.holdout + to),
      secret: line((point) => point.truth),
      private: line((point) => point.sum),
      low: line((point) => point.low),
      high: line((point) => point.high),
    },
    { words: energyWords, from: METER.holdout, to: METER.length, fogged: !peeking },
  );
  stage.note("Used since the first day, with the margin of the noise. The truth is in the mist.");
  byId("result-card").replaceChildren(
    h("p", { class: "say" }, "Used in seven weeks: ", big(kWh(sum))),
    intervalBar({ sum, low, high, clamped, truth }, kWh, 400),
  );
  byId("story-code").textContent = codeOf(epsilon());
}

export const codeOf = (epsilon: number): string => `import { privateStream } from "brume";

const stream = privateStream({
  epsilon: ${epsilon},
  max: ${METER.max},
  holdout: ${METER.holdout},
  maxRange: ${METER.maxRange},
});

meter.on("reading", (watts) => {
  const published = stream.push(watts);
  if (published !== undefined) send(published);
});

const { sum, low, high } =
  stream.range(0, stream.length);`;
