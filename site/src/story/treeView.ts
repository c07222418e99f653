/** Steps 3 and 4: a tree of fan-out 4 over 16 blocks, with the noise on its nodes. */
import { svg } from "../look/dom.js";

const FANOUT = 4;
const LEVELS = 3;
export const LEAVES = FANOUT ** (LEVELS - 1);
const [WIDTH, HEIGHT] = [760, 470];
/** Height of each level, leaves first. */
const ROWS = [330, 195, 70];

interface Place {
  readonly level: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Blocks [from, to) below it. */
  readonly from: number;
  readonly to: number;
}

/** Leaves first, top last, as the library orders them. */
export const PLACES: readonly Place[] = Array.from({ length: LEVELS }, (_, level) => {
  const size = FANOUT ** level;
  return Array.from({ length: LEAVES / size }, (_, i) => {
    const width = ((WIDTH - 20) / LEAVES) * size;
    return { level, x: 10 + (i + 0.5) * width, y: ROWS[level]!, width, from: i * size, to: (i + 1) * size };
  });
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

/** @param noise per node; drawn as bars, up or down from the node */
export function drawTree(
  noise: Float64Array,
  lit: ReadonlySet<number>,
  range?: readonly [number, number],
): SVGElement {
  const sizes = noise.map(Math.abs).sort();
  const most = sizes[Math.floor(0.85 * sizes.length)] || 1; // the few larger ones are cut at the top
  const edges = PLACES.filter(({ level }) => level > 0).flatMap((place) =>
    PLACES.filter(
      ({ level, from, to }) => level === place.level - 1 && from >= place.from && to <= place.to,
    ).map((child) => svg("line", { class: "tree-edge", x1: place.x, y1: place.y, x2: child.x, y2: child.y })),
  );
  const leaf = (WIDTH - 20) / LEAVES;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `A tree of noise over ${LEAVES} blocks; ${lit.size} of its ${PLACES.length} nodes are lit`,
    },
    ...(range
      ? [
          svg("rect", {
            class: "tree-leaf-range",
            x: 10 + range[0] * leaf,
            y: 20,
            width: (range[1] - range[0]) * leaf,
            height: HEIGHT - 50,
            rx: 8,
          }),
        ]
      : []),
    ...edges,
    ...PLACES.flatMap((place, node) => bar(place, noise[node]!, most, lit.has(node))),
    svg("text", { class: "tree-text", x: 12, y: HEIGHT - 8 }, "blocks in time →"),
  );
}

function bar({ x, y, width, level }: Place, noise: number, most: number, lit: boolean): SVGElement[] {
  const tall = Math.min(1.15, Math.abs(noise) / most) * 58;
  const radius = level === 0 ? 7 : 10;
  const across = Math.min(34, width * 0.5);
  return [
    svg("rect", {
      class: `tree-noise${noise < 0 ? " minus" : ""}`,
      x: x - across / 2,
      y: noise >= 0 ? y - tall : y,
      width: across,
      height: Math.max(1, tall),
      rx: 3,
      opacity: lit ? 0.9 : 0.3,
    }),
    svg("circle", { class: `tree-node${lit ? " lit" : ""}`, cx: x, cy: y, r: radius }),
  ];
}
