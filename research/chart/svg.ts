/** Panels under one legend: side by side in an SVG that stands alone, or in pieces for a page to lay out. */
import type { Panel, Series } from "./panel.js";
import { makeScale, type Scale, tickLabel } from "./scale.js";

/**
 * Okabe and Ito 2008: told apart with any kind of colour vision. Shapes differ as well. Their black, like all text and lines
 * of the grid, has the colour of the text around it, so that a dark page can have pictures of its own kind.
 */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#808080", "currentColor"];
const WIDTH = 300;
const HEIGHT = 210;
/** Room around the plot of a panel, for its title and axes. */
const ROOM = { left: 62, right: 14, top: 30, bottom: 44 };
const LEGEND = 30;
const LETTER = 6.4;
const MOST_SHAPES = 20;

/** A panel with its room. */
const step = { x: ROOM.left + WIDTH + ROOM.right, y: ROOM.top + HEIGHT + ROOM.bottom };

/** A chart as HTML: a list for the legend, and a picture per panel that is as wide as its place. */
export function piecesOf(panels: readonly Panel[]): { readonly legend: string; readonly panels: string[] } {
  const names = namesOf(panels);
  const entries = [...names].map(
    ([name, entry]) =>
      `<li><svg viewBox="0 -7 26 14" width="26" height="14" aria-hidden="true">${sampleOf(entry)}</svg> ${escapeXml(name)}</li>`,
  );
  return {
    legend: `<ul class="legend">${entries.join("")}</ul>`,
    panels: panels.map(
      (panel) =>
        `<svg viewBox="0 0 ${step.x} ${step.y}" role="img" aria-label="${escapeXml(panel.title)}" font-size="12" fill="currentColor"><g transform="translate(${ROOM.left} ${ROOM.top})">${panelOf(panel, names)}</g></svg>`,
    ),
  };
}

export function svgOf(title: string, panels: readonly Panel[], columns = Math.min(panels.length, 4)): string {
  const names = namesOf(panels);
  const width = columns * step.x;
  const legend = legendOf(names, width);
  const height = legend.height + Math.ceil(panels.length / columns) * step.y;
  const drawn = panels.map((panel, i) => {
    const [x, y] = [(i % columns) * step.x + ROOM.left, Math.floor(i / columns) * step.y + ROOM.top];
    return `<g transform="translate(${x} ${y + legend.height})">${panelOf(panel, names)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" color="#222" fill="currentColor">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    legend.svg,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!);

/** Each series once, with its colour. */
function namesOf(panels: readonly Panel[]): Map<string, { colour: number; series: Series }> {
  const names = new Map<string, { colour: number; series: Series }>();
  for (const series of panels.flatMap((panel) => panel.series))
    if (!names.has(series.name)) names.set(series.name, { colour: series.colour ?? names.size, series });
  return names;
}

type Names = ReturnType<typeof namesOf>;

function legendOf(names: Names, width: number): { svg: string; height: number } {
  let [x, y] = [16, 18];
  const entries = [...names].map(([name, entry]) => {
    const wide = 40 + name.length * LETTER + 14;
    if (x + wide > width && x > 16) [x, y] = [16, y + 20];
    const sample = `<g transform="translate(${x} ${y})">${sampleOf(entry)}<text x="33" y="4">${escapeXml(name)}</text></g>`;
    x += wide;
    return sample;
  });
  return { svg: entries.join("\n"), height: y + LEGEND - 18 };
}

/** A bit of a series, 26 wide, for a legend. */
function sampleOf({ colour, series }: { colour: number; series: Series }): string {
  return strokeOf(series, colour, "M0 0H26") + (hasShapes(series) ? shapeOf(colour, 13, 0) : "");
}

function panelOf({ title, x, y, series, marks = [] }: Panel, names: Names): string {
  const points = series.flatMap((one) => one.points);
  const across = makeScale([...points.map((p) => p.x), ...marks.map((m) => m.x)], x.log ?? false);
  const up = makeScale(
    points.map((p) => p.y),
    y.log ?? false,
  );
  const place = {
    x: (value: number) => across.at(value) * WIDTH,
    y: (value: number) => (1 - up.at(value)) * HEIGHT,
  };
  return [
    `<text x="${WIDTH / 2}" y="-10" text-anchor="middle" font-weight="600">${escapeXml(title)}</text>`,
    gridOf(across, up),
    `<text x="${WIDTH / 2}" y="${HEIGHT + 36}" text-anchor="middle">${escapeXml(x.label)}</text>`,
    `<text transform="translate(-50 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${escapeXml(y.label)}</text>`,
    ...marks.map(
      (mark, i) =>
        `<path d="M${px(place.x(mark.x))} 0V${HEIGHT}" stroke="#808080" stroke-dasharray="2 3"/><text x="${px(place.x(mark.x) + 4)}" y="${12 + 14 * i}" font-size="11">${escapeXml(mark.label)}</text>`,
    ),
    ...series.map((one) => seriesOf(one, names.get(one.name)!.colour, place, y.log ?? false)),
  ].join("\n");
}

function gridOf(across: Scale, up: Scale): string {
  const upright = across.ticks.map((tick) => {
    const at = px(across.at(tick) * WIDTH);
    return `<path d="M${at} 0V${HEIGHT}" stroke="currentColor" stroke-opacity="0.08"/><text x="${at}" y="${HEIGHT + 17}" text-anchor="middle" font-size="11">${tickLabel(tick)}</text>`;
  });
  const level = up.ticks.map((tick) => {
    const at = (1 - up.at(tick)) * HEIGHT;
    return `<path d="M0 ${px(at)}H${WIDTH}" stroke="currentColor" stroke-opacity="0.12"/><text x="-7" y="${px(at + 4)}" text-anchor="end" font-size="11">${tickLabel(tick)}</text>`;
  });
  return [...upright, ...level, `<path d="M0 0V${HEIGHT}H${WIDTH}" fill="none" stroke="#808080"/>`].join("");
}

interface Place {
  x(value: number): number;
  y(value: number): number;
}

/** On a log axis nothing at or below 0 can be drawn, neither a point nor the end of a bar: the bar then ends at the axis. */
function seriesOf(series: Series, colour: number, place: Place, log: boolean): string {
  const shown = series.points.filter(({ y }) => Number.isFinite(y) && (!log || y > 0));
  const clip = (at: number) => Math.min(HEIGHT, Math.max(0, at));
  const path = shown
    .map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${px(place.x(x))} ${px(place.y(y))}`)
    .join("");
  const bars = shown.flatMap(({ x, y, sd = 0 }) => {
    if (sd === 0) return [];
    const low = log && y - sd <= 0 ? HEIGHT : clip(place.y(y - sd));
    return [
      `<path d="M${px(place.x(x))} ${px(clip(place.y(y + sd)))}V${px(low)}" stroke="${COLOURS[colour % COLOURS.length]}" stroke-opacity="0.45" stroke-width="1.5"/>`,
    ];
  });
  const dots = hasShapes(series) ? shown.map(({ x, y }) => shapeOf(colour, place.x(x), place.y(y))) : [];
  return `<g data-series="${escapeXml(series.name)}">${strokeOf(series, colour, path)}${bars.join("")}${dots.join("")}</g>`;
}

/** A long curve is a line without them. */
const hasShapes = ({ look, points }: Series): boolean => look !== "dashed" && points.length <= MOST_SHAPES;

function strokeOf({ look = "line" }: Series, colour: number, path: string): string {
  if (look === "dots" || path === "") return "";
  const dash = look === "dashed" ? ' stroke-dasharray="5 4"' : "";
  return `<path d="${path}" fill="none" stroke="${COLOURS[colour % COLOURS.length]}" stroke-width="1.8" stroke-linejoin="round"${dash}/>`;
}

/** A circle, a square, a diamond or a triangle, by colour. */
function shapeOf(colour: number, x: number, y: number): string {
  const r = 3.6;
  const shapes = [
    `M${px(x - r)} ${px(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
    `M${px(x - r)} ${px(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${px(x)} ${px(y - 1.3 * r)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`,
    `M${px(x)} ${px(y - 1.2 * r)}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z`,
  ];
  return `<path d="${shapes[colour % shapes.length]}" fill="${COLOURS[colour % COLOURS.length]}"/>`;
}

const px = (value: number): number => Math.round(value * 10) / 10;
