/** Paints over a stream's chart: the hatched hold-out, mist over the secret, names at the ends of lines. */
import type uPlot from "uplot";
import type { Lines } from "./lines.js";
import { type Colours, FONT_FAMILY } from "./theme.js";

/** Hatches positions [from, to): nothing is published there. */
export function paintHeld(u: uPlot, from: number, to: number, label: string, colours: Colours): void {
  const { ctx, bbox } = u;
  const left = Math.max(bbox.left, u.valToPos(from, "x", true));
  const right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
  if (!(right > left)) return;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colours.held;
  ctx.lineWidth = 2 * ratio;
  ctx.beginPath();
  for (let x = left - bbox.height; x < right; x += 9 * ratio) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.font = `${12.5 * ratio}px ${FONT_FAMILY}`;
  const width = ctx.measureText(label).width;
  if (width + 16 * ratio < right - left) {
    ctx.fillStyle = colours.card;
    ctx.fillRect(left + 4 * ratio, bbox.top + 5 * ratio, width + 10 * ratio, 20 * ratio);
    ctx.fillStyle = colours.quiet;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillText(label, left + 9 * ratio, bbox.top + 15 * ratio);
  }
  ctx.restore();
}

/** The mist is painted this many times smaller, and enlarged: in a blur nobody sees it, and 64 times fewer pixels are blurred. */
const COARSE = 8;

/** A line as a ribbon of mist: one sees that there is something, not what. */
export function paintMist(u: uPlot, x: Float64Array, line: Float64Array, colours: Colours): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const small = document.createElement("canvas");
  small.width = Math.ceil(bbox.width / COARSE);
  small.height = Math.ceil(bbox.height / COARSE);
  const mist = small.getContext("2d")!;
  mist.scale(1 / COARSE, 1 / COARSE);
  mist.translate(-bbox.left, -bbox.top);
  mist.lineJoin = "round";
  mist.lineCap = "round";
  mist.strokeStyle = colours.quiet;
  mist.lineWidth = 16 * ratio;
  mist.filter = `blur(${(12 * ratio) / COARSE}px)`; // where filters are unknown, a broad line
  trace(mist, u, x, line);
  mist.stroke();
  ctx.save();
  ctx.globalAlpha = 0.3;
  ctx.drawImage(small, bbox.left, bbox.top, small.width * COARSE, small.height * COARSE);
  ctx.restore();
}

/** Twenty faint lines of other releases behind the one that counts. */
export function paintFaint(
  u: uPlot,
  x: Float64Array,
  faint: readonly Float64Array[],
  colours: Colours,
): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colours.private;
  ctx.globalAlpha = 0.22;
  ctx.lineWidth = devicePixelRatio;
  for (const line of faint) {
    trace(ctx, u, x, line);
    ctx.stroke();
  }
  ctx.restore();
}

function trace(ctx: CanvasRenderingContext2D, u: uPlot, x: Float64Array, line: Float64Array): void {
  ctx.beginPath();
  let down = false;
  for (let j = 0; j < x.length; j++) {
    const value = line[j]!;
    if (Number.isNaN(value)) {
      down = false;
      continue;
    }
    const [left, top] = [u.valToPos(x[j]!, "x", true), u.valToPos(value, "y", true)];
    if (down) ctx.lineTo(left, top);
    else ctx.moveTo(left, top);
    down = true;
  }
}

/** The unit of the vertical axis, above its numbers: nobody turns the head to read it. */
export function paintUnit({ ctx }: uPlot, unit: string, colours: Colours): void {
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${12.5 * ratio}px ${FONT_FAMILY}`;
  ctx.fillStyle = colours.quiet;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText(unit, 4 * ratio, 2 * ratio);
  ctx.restore();
}

/** Names of lines where they end, to the right of the plot; no two on the same height. */
export function paintNames(u: uPlot, lines: Lines, fogged: boolean, colours: Colours): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const right = bbox.left + bbox.width;
  const names = [
    { text: "secret", line: lines.secret, colour: colours.secret, lock: true },
    { text: "private", line: lines.private, colour: colours.private, lock: false },
  ]
    .map((name) => ({ ...name, at: lastPoint(u, lines.x, name.line) }))
    .filter((name) => name.at !== undefined && !(fogged && name.lock))
    .sort((a, b) => a.at![1] - b.at![1]);
  let free = bbox.top;
  ctx.save();
  ctx.font = `600 ${12.5 * ratio}px ${FONT_FAMILY}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const { text, colour, lock, at } of names) {
    const top = Math.max(free + 8 * ratio, Math.min(at![1], bbox.top + bbox.height - 8 * ratio));
    free = top + 10 * ratio;
    const left = Math.min(at![0], right) + 8 * ratio;
    ctx.fillStyle = colour;
    if (lock) paintLock(ctx, left, top, ratio, colour);
    ctx.fillText(text, left + (lock ? 15 * ratio : 0), top);
  }
  ctx.restore();
}

function lastPoint(u: uPlot, x: Float64Array, line: Float64Array | undefined): [number, number] | undefined {
  const max = u.scales["x"]!.max ?? Infinity;
  for (let j = (line?.length ?? 0) - 1; j >= 0; j--)
    if (!Number.isNaN(line![j]!) && x[j]! <= max)
      return [u.valToPos(x[j]!, "x", true), u.valToPos(line![j]!, "y", true)];
  return undefined;
}

function paintLock(
  ctx: CanvasRenderingContext2D,
  left: number,
  middle: number,
  ratio: number,
  colour: string,
) {
  ctx.fillRect(left, middle - 1 * ratio, 10 * ratio, 7 * ratio);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.6 * ratio;
  ctx.beginPath();
  ctx.arc(left + 5 * ratio, middle - 2 * ratio, 3 * ratio, Math.PI, 0);
  ctx.stroke();
}
