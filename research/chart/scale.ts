/** From numbers to places on an axis, straight or logarithmic, with round ticks. */

export interface Scale {
  /** 0 at the low end of the axis, 1 at the high end. */
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** @param values all that must fit; on a log scale those above 0 */
export function makeScale(values: readonly number[], log: boolean): Scale {
  return log ? logScale(values.filter((value) => value > 0)) : linearScale(values);
}

function logScale(values: readonly number[]): Scale {
  const [least, most] = ends(values);
  const [low, high] = pad(Math.log10(least), Math.log10(most), 0.06);
  const at = (value: number) => (Math.log10(value) - low) / (high - low);
  const every = Math.ceil((high - low) / 6);
  const powers = upTo(Math.ceil(low / every) * every, every, high).map((k) => 10 ** k);
  if (powers.length >= 3) return { at, ticks: powers };
  const fine = upTo(Math.floor(low), 1, high).flatMap((k) => [1, 2, 5].map((d) => d * 10 ** k));
  const inside = fine.filter((tick) => at(tick) >= 0 && at(tick) <= 1);
  return { at, ticks: inside.length >= 2 ? inside : linearScale([least, most]).ticks };
}

function linearScale(values: readonly number[]): Scale {
  const [least, most] = ends(values);
  const [low, high] = pad(least, most, 0.05);
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((d) => d * power).find((width) => width >= rough)!;
  const ticks = upTo(Math.ceil(low / step), 1, high / step).map((k) => k * step);
  return { at: (value) => (value - low) / (high - low), ticks };
}

const ends = (values: readonly number[]): [number, number] =>
  values.length === 0
    ? [1, 10]
    : values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);

/** A margin on both sides; an interval around a single number. */
function pad(low: number, high: number, share: number): [number, number] {
  const margin = high > low ? share * (high - low) : Math.max(0.5, Math.abs(low) / 2);
  return [low - margin, high + margin];
}

function upTo(from: number, step: number, most: number): number[] {
  const list: number[] = [];
  for (let k = from; k <= most + 1e-9; k += step) list.push(k);
  return list;
}

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10⁷, 2·10⁷, 0.05, 1500. */
export function tickLabel(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || (size >= 0.001 && size < 10_000)) return String(Number(value.toPrecision(6)));
  // 10 ** −5 is not quite 1e−5.
  const [digits, power] = Number(value.toPrecision(3)).toExponential().split("e") as [string, string];
  const raised = power
    .replace("+", "")
    .replace("-", "⁻")
    .replace(/\d/g, (d) => SUPERSCRIPT[Number(d)]!);
  return digits === "1" ? `10${raised}` : `${digits}·10${raised}`;
}
