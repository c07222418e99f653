/** The comparison as a picture: a line per system, a dot per stream, a bar at the geometric mean. Left of 1 a system beats the default. */
import { makeScale, tickLabel } from "../chart/scale.js";
import { escapeXml } from "../chart/svg.js";
import { type OpponentName, OPPONENTS, type PrivacyUnit, UNIT_TITLES } from "./list.js";
import type { OpponentsReport } from "./measure.js";
import { ranked } from "./table.js";

const NAMES = 272;
const WIDTH = 330;
const GAP = 26;
const ROW = 19;
const HEAD = 30;
const TOP = 46;
const BOTTOM = 46;
/** Okabe and Ito's blue, orange, green and purple: told apart with any kind of colour vision. */
const COLOURS: Readonly<Record<PrivacyUnit, string>> = {
  event: "#0072b2",
  "event-delta": "#d55e00",
  window: "#009e73",
  user: "#cc79a7",
};
/** Ratios are drawn up to here; what is beyond lies at the edge. */
const MOST = 1e8;

const px = (x: number): number => Math.round(x * 10) / 10;

export function figureOf(report: OpponentsReport): string {
  const { epsilons } = report.settings;
  const lines = layout(report);
  const height = TOP + lines.height + BOTTOM;
  const width = NAMES + epsilons.length * (WIDTH + GAP);
  const scale = makeScale(
    report.cells.map(({ ratio }) => Math.min(MOST, ratio.mean)),
    true,
  );
  const names = lines.rows.map(
    ({ opponent, y }) =>
      `<text x="${NAMES - 12}" y="${y + 4}" text-anchor="end">${escapeXml(OPPONENTS[opponent].title)}</text>`,
  );
  const heads = lines.heads.map(
    ({ unit, y }) =>
      `<text x="${NAMES - 12}" y="${y + 4}" text-anchor="end" font-weight="600" fill="${COLOURS[unit]}">${escapeXml(UNIT_TITLES[unit])}</text>`,
  );
  const panels = epsilons.map((epsilon, i) => {
    const left = NAMES + i * (WIDTH + GAP);
    const x = (value: number) => px(left + scale.at(Math.min(MOST, value)) * WIDTH);
    const grid = scale.ticks.map(
      (tick) =>
        `<path d="M${x(tick)} ${TOP}V${height - BOTTOM}" stroke="currentColor" stroke-opacity="0.12"/><text x="${x(tick)}" y="${height - BOTTOM + 17}" text-anchor="middle" font-size="11">${tickLabel(tick)}</text>`,
    );
    const even = `<path d="M${x(1)} ${TOP - 6}V${height - BOTTOM}" stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="4 3"/>`;
    const dots = lines.rows.map(({ opponent, y }) => rowOf(report, opponent, epsilon, y, x));
    return [
      `<text x="${left + WIDTH / 2}" y="20" text-anchor="middle" font-weight="600">ε = ${epsilon}</text>`,
      ...grid,
      even,
      ...dots,
      `<text x="${left + WIDTH / 2}" y="${height - 8}" text-anchor="middle">mean squared error over the default’s</text>`,
    ].join("\n");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" color="#222" fill="currentColor">`,
    `<title>Error of range sums of every system over that of the default, by stream; left of 1 a system is better</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...heads,
    ...names,
    ...panels,
    "</svg>\n",
  ].join("\n");
}

/** Where rows and titles of units are: below one another, best first. */
function layout(report: OpponentsReport) {
  const rows: { opponent: OpponentName; y: number }[] = [];
  const heads: { unit: PrivacyUnit; y: number }[] = [];
  let y = TOP;
  for (const unit of Object.keys(UNIT_TITLES) as PrivacyUnit[]) {
    const names = ranked(report, unit).filter((opponent) => opponent !== "default");
    if (names.length === 0) continue;
    heads.push({ unit, y: (y += HEAD / 2) });
    y += HEAD / 2;
    for (const opponent of names) {
      rows.push({ opponent, y });
      y += ROW;
    }
  }
  return { rows, heads, height: y - TOP };
}

/** Streams with θ by the rule, or with the best public θ where there is no rule. */
function rowOf(
  report: OpponentsReport,
  opponent: OpponentName,
  epsilon: number,
  y: number,
  x: (value: number) => number,
): string {
  const all = report.cells.filter((cell) => cell.opponent === opponent && cell.epsilon === epsilon);
  const rule = all.filter(({ theta }) => theta === "rule");
  const cells = rule.length > 0 ? rule : all;
  const colour = COLOURS[OPPONENTS[opponent].unit];
  const dots = cells.map(
    ({ ratio }) => `<circle cx="${x(ratio.mean)}" cy="${y}" r="3.2" fill="${colour}" fill-opacity="0.35"/>`,
  );
  const mean = Math.exp(cells.reduce((sum, { ratio }) => sum + Math.log(ratio.mean), 0) / cells.length);
  return `<g data-system="${opponent}">${dots.join("")}<path d="M${x(mean)} ${y - 7}V${y + 7}" stroke="${colour}" stroke-width="3"/></g>`;
}
