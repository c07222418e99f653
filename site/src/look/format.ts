/** Numbers as people read them: thousands separated, a few digits, always with a unit. */
import type { Meaning } from "../data/example.js";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const precise = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export const count = (n: number): string => whole.format(n);

/** Four digits, or all those before the point up to twelve. */
export const amount = (x: number): string => {
  if (Math.abs(x) >= 1e12) return powers(x);
  return minus(Math.abs(x) >= 1000 ? whole.format(x) : precise.format(x));
};

/** "2.17 × 10¹¹": for what spans many powers of ten. */
export function powers(x: number): string {
  const [digits, power] = x.toExponential(2).split("e") as [string, string];
  const raised = [...String(Number(power))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]!));
  return x === 0 ? "0" : minus(`${digits}\u00a0×\u00a010${raised.join("")}`);
}

export const withUnit = (x: number, unit: string): string => `${amount(x)}\u00a0${unit}`;

/** How long a number of values lasts, or just how many there are. */
export function span(values: number, { pace }: Meaning): string {
  if (pace === undefined) return `${count(values)}\u00a0${values === 1 ? "value" : "values"}`;
  return duration(values * pace);
}

export function duration(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [length, name] of [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ] as const) {
    if (rest >= length && parts.length < 2) parts.push(`${Math.floor(rest / length)}\u00a0${name}`);
    rest %= length;
  }
  return parts.join(" ") || "0\u00a0s";
}

/** A place in the stream: "day 3, 14:05", or "value 12,345". */
export function place(position: number, { pace }: Meaning): string {
  if (pace === undefined) return `value ${count(position)}`;
  const minutes = Math.floor((position * pace) / 60);
  const two = (n: number) => String(n).padStart(2, "0");
  return `day ${Math.floor(minutes / 1440) + 1}, ${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}

const minus = (text: string): string => text.replace("-", "−");
