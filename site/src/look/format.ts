/** Numbers as people read them: thousands separated, a few digits, always with a unit. */

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

/** A lower bound, two digits after the point, never rounded up: nothing more was shown. */
export const atLeast = (x: number): string => amount(Math.floor(100 * x) / 100);

export const withUnit = (x: number, unit: string): string =>
  unit === "" ? amount(x) : `${amount(x)}\u00a0${unit}`;

/** "3.2 %", two digits. */
export const percent = (share: number): string => `${amount(Number((100 * share).toPrecision(2)))}\u00a0%`;

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

const minus = (text: string): string => text.replace("-", "−");
