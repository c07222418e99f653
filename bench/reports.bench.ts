/** What does a batch of local reports cost? Opponents: the same draws in JavaScript, and the textbook mechanisms in doubles. */
import { jsCore } from "../src/core/js/index.js";
import type { Mechanism, Quantiser } from "../src/core/tables/sectors.js";
import { Purpose, subStream } from "../src/core/random.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { hybrid, squareWave, squareWaveWidth, stochasticRounding } from "../src/local/mechanisms.js";
import { measure, type Row } from "./harness.js";

const COUNT = 2 ** 18;
const EPSILON = 1;
const MAX = 500;

/** Uniform doubles from the platform's cryptographic generator, 2¹⁴ at a time: what a careful first version would use. */
function uniforms(): () => number {
  const words = new Uint32Array(2 ** 14);
  let at = words.length;
  return () => {
    if (at === words.length) {
      crypto.getRandomValues(words);
      at = 0;
    }
    return words[at++]! / 2 ** 32;
  };
}

/** Textbook Stochastic Rounding on [−1, 1]; inexact, as doubles are. */
function naiveRounding(epsilon: number, uniform: () => number): (v: number) => number {
  const e = Math.exp(epsilon);
  const magnitude = (e + 1) / (e - 1);
  return (v) => (uniform() < 0.5 + v / (2 * magnitude) ? magnitude : -magnitude);
}

/** Textbook Piecewise on [−1, 1]. */
function naivePiecewise(epsilon: number, uniform: () => number): (v: number) => number {
  const h = Math.exp(epsilon / 2);
  const s = (h + 1) / (h - 1);
  return (v) => {
    const left = ((s + 1) / 2) * v - (s - 1) / 2;
    const right = left + s - 1;
    if (uniform() < h / (h + 1)) return left + uniform() * (right - left);
    const place = uniform() * (s + 1);
    return place < left + s ? place - s : place - s + (right - left);
  };
}

/** Textbook Hybrid on [−1, 1]. */
function naiveHybrid(epsilon: number, uniform: () => number): (v: number) => number {
  const alpha = 1 - Math.exp(-epsilon / 2);
  const [rounding, piecewise] = [naiveRounding(epsilon, uniform), naivePiecewise(epsilon, uniform)];
  return (v) => (uniform() < alpha ? piecewise(v) : rounding(v));
}

/** Textbook Square Wave on [0, 1]. */
function naiveWave(epsilon: number, uniform: () => number): (v: number) => number {
  const w = squareWaveWidth(epsilon);
  const e = Math.exp(epsilon);
  const near = (w * e) / (w * e + 1);
  return (v) => {
    if (uniform() < near) return v + (uniform() - 0.5) * w;
    const place = uniform();
    return place < v ? place - w / 2 : place + w / 2;
  };
}

export async function* rows(): AsyncGenerator<Row> {
  const wasmCore = makeWasmCore();
  const key = unsafeKey("bench");
  const values = Float64Array.from({ length: COUNT }, (_, i) => (i * 7919) % MAX);
  const cells = new Uint32Array(COUNT);
  const naive = new Float64Array(COUNT);
  const draw = (core: typeof jsCore, mechanism: Mechanism, quantiser: Quantiser) => () =>
    core.fillReports(subStream(key, Purpose.reports, 0, 0), mechanism, quantiser, values, cells);
  const signed = (value: number) => (2 * value) / MAX - 1;
  const [rounding, mixed, wave] = [naiveRounding, naiveHybrid, naiveWave].map((make) =>
    make(EPSILON, uniforms()),
  );
  const cases: [string, Mechanism, (value: number) => number][] = [
    ["Hybrid", hybrid(EPSILON), (value) => mixed!(signed(value))],
    ["Stochastic Rounding", stochasticRounding(EPSILON), (value) => rounding!(signed(value))],
    ["Square Wave", squareWave(EPSILON), (value) => wave!(value / MAX)],
  ];
  for (const [name, mechanism, textbook] of cases) {
    const quantiser = { scale: mechanism.top / MAX, shift: 0.5 };
    yield await measure({
      path: "reports",
      case: `${COUNT} ${name} reports, ε = ${EPSILON}, naive: doubles`,
      wasm: draw(wasmCore, mechanism, quantiser),
      js: draw(jsCore, mechanism, quantiser),
      naive: () => {
        for (let i = 0; i < COUNT; i++) naive[i] = textbook(values[i]!);
      },
    });
  }
}
