/** Colours and fonts of the charts, from the style sheet: light or dark, the charts follow. */

const NAMES = [
  ...(["ink", "quiet", "grid", "line", "card", "page", "secret", "private", "privateSoft"] as const),
  ...(["privateEdge", "clamped", "clampedSoft", "held", "selected", "mist", "wrong", "right"] as const),
];

export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;

export const FONT_FAMILY = '"Manrope Variable", system-ui, "Segoe UI", Roboto, sans-serif';
export const FONT = `12.5px ${FONT_FAMILY}`;

/** light-dark() has no value of its own; a colour that an element has, does. */
export function colours(): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const found = NAMES.map((name) => {
    probe.style.color = `var(--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)})`;
    return [name, style.color];
  });
  probe.remove();
  return Object.fromEntries(found) as Colours;
}

/** Calls back whenever the page turns light or dark. Returns how to stop that. */
export function onColours(listener: () => void): () => void {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const watch = new MutationObserver(listener);
  query.addEventListener("change", listener);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    query.removeEventListener("change", listener);
    watch.disconnect();
  };
}

/** Style of all axes: a quiet grid, no ticks. */
export const axisOf = ({ quiet, grid }: Colours) => ({
  stroke: quiet,
  font: FONT,
  ticks: { show: false },
  grid: { stroke: grid, width: 1 },
});
