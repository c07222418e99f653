/** Steps 3 and 4: a tree of fan-out 4 over 16 blocks, with the noise on its nodes. */
import { svg } from "../look/dom.js";

const FANOUT = 4;
const LEVELS = 3;
export const LEAVES = FANOUT ** (LEVELS - 1);
/** Height of each level as a share, leaves first. */
const ROWS = [0.78, 0.46, 0.16];

interface Place {
  readonly level: number;
  /** Blocks [from, to) below it. */
  readonly from: number;
  readonly to: number;
}

/** Leaves first, top last, as the library orders them. */
export const PLACES: readonly Place[] = Array.from({ length: LEVELS }, (_, level) => {
  const size = FANOUT ** level;
  return Array.from({ length: LEAVES / size }, (_, i) => ({ level, from: i * size, to: (i + 1) * size }));
}).flat();

/** The fewest nodes that make up blocks [from, to). */
export function cover(from: number, to: number): number[] {
  const inside = PLACES.map((place) => place.from >= from && place.to <= to);
  const parent = (node: number) =>
    PLACES.findIndex(
      ({ level, from, to }) =>
        level === PLACES[node]!.level + 1 && from <= PLACES[node]!.from && to >= PLACES[node]!.to,
    );
  return PLACES.flatMap((_, node) => (inside[node] && !(inside[parent(node)] ?? false) ? [node] : []));
}

export interface TreeDrawing {
  readonly width: number;
  readonly height: number;
  /** Blocks [from, to) that are marked. */
  readonly range?: readonly [from: number, to: number];
}

/** @param noise per node; drawn as bars, up or down from the node */
export function drawTree(
  noise: Float64Array,
  lit: ReadonlySet<number>,
  { width, height, range }: TreeDrawing,
): SVGElement {
  const sizes = noise.map(Math.abs).sort();
  const most = sizes[Math.floor(0.85 * sizes.length)] || 1; // the few larger ones are cut at the top
  const leaf = width / LEAVES;
  const x = ({ from, to }: Place) => ((from + to) / 2) * leaf;
  const y = ({ level }: Place) => ROWS[level]! * (height - 30) + 10;
  const edges = PLACES.filter(({ level }) => level > 0).flatMap((place) =>
    PLACES.filter(
      ({ level, from, to }) => level === place.level - 1 && from >= place.from && to <= place.to,
    ).map((child) =>
      svg("line", { class: "tree-edge", x1: x(place), y1: y(place), x2: x(child), y2: y(child) }),
    ),
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `A tree of noise over ${LEAVES} blocks; ${lit.size} of its ${PLACES.length} nodes are lit`,
    },
    ...(range
      ? [
          svg("rect", {
            class: "tree-leaf-range",
            x: range[0] * leaf,
            y: y(PLACES[0]!) - 0.17 * height,
            width: (range[1] - range[0]) * leaf,
            height: 0.33 * height,
            rx: 10,
          }),
        ]
      : []),
    ...edges,
    ...PLACES.flatMap((place, node) =>
      bar(x(place), y(place), {
        noise: noise[node]! / most,
        lit: lit.has(node),
        tall: 0.13 * height,
        across: Math.min(30, leaf * (place.level === 0 ? 0.56 : 0.9)),
        radius: Math.min(place.level === 0 ? 7 : 10, leaf * 0.3),
      }),
    ),
    svg("text", { class: "tree-text", x: 4, y: height - 6 }, `${LEAVES} blocks, in time →`),
    svg("text", { class: "tree-text", x: 4, y: 20 }, "all blocks"),
    svg("text", { class: "tree-text", x: 4, y: y(PLACES[LEAVES]!) - 0.16 * height }, "4 blocks each"),
  );
}

interface Bar {
  /** 1 is as tall as a bar gets, or nearly. */
  readonly noise: number;
  readonly lit: boolean;
  readonly tall: number;
  readonly across: number;
  readonly radius: number;
}

function bar(x: number, y: number, { noise, lit, tall, across, radius }: Bar): SVGElement[] {
  const size = Math.min(1.15, Math.abs(noise)) * tall;
  return [
    svg("rect", {
      class: `tree-noise${noise < 0 ? " minus" : ""}`,
      x: x - across / 2,
      y: noise >= 0 ? y - size : y,
      width: across,
      height: Math.max(1, size),
      rx: 3,
      opacity: lit ? 0.9 : 0.28,
    }),
    svg("circle", { class: `tree-node${lit ? " lit" : ""}`, cx: x, cy: y, r: radius }),
  ];
}
