/** Worker of the small charts: the same data through several methods. */
import { exampleStream } from "brume-research";
import { Player } from "./player.js";
import type { FromMultiples, ToMultiples } from "./protocol.js";

/** Sends the lines of every method that is asked for, or why it has none. */
export function sendMultiples({ source, settings, methods, window, at, part }: ToMultiples): void {
  const values = source.kind === "example" ? exampleStream(source.seed) : source.values;
  for (const method of methods)
    try {
      const player = new Player(values, { ...settings, method, skip: "auto" }, window);
      player.advance(at);
      player.look(part);
      const lines = player.lines();
      send({ type: "lines", method, lines, off: meanDistance(lines.private, lines.secret!) });
    } catch (error) {
      send({ type: "failed", method, message: (error as Error).message });
    }
}

/** How far the private line is off, on average over the columns. */
function meanDistance(line: Float64Array, truth: Float64Array): number {
  let [sum, columns] = [0, 0];
  line.forEach((value, j) => {
    if (Number.isNaN(value)) return;
    sum += Math.abs(value - truth[j]!);
    columns++;
  });
  return columns === 0 ? NaN : sum / columns;
}

function send(message: FromMultiples): void {
  postMessage(message);
}
