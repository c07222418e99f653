/** Colours and fonts of the plots, from the style sheet: light or dark, the plots follow. */

export interface Theme {
  readonly ink: string;
  readonly quiet: string;
  readonly grid: string;
  readonly truth: string;
  readonly accent: string;
  readonly soft: string;
  readonly held: string;
}

export const FONT = '12px system-ui, "Segoe UI", Roboto, sans-serif';

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: colour("--ink"),
    quiet: colour("--quiet"),
    grid: colour("--grid"),
    truth: colour("--truth"),
    accent: colour("--accent"),
    soft: colour("--accent-soft"),
    held: colour("--held"),
  };
}

/** What all axes share: a quiet grid, no ticks. */
export const axisOf = ({ quiet, grid }: Theme) => ({
  stroke: quiet,
  font: FONT,
  ticks: { show: false },
  grid: { stroke: grid, width: 1 },
});

/** Calls back whenever the system turns light or dark. */
export function onThemeChange(listener: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}
