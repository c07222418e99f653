/** The local mechanisms, on the two ends of their domain: windows that overlap little, and opposite roundings. */
import type { Mechanism } from "../../../src/core/tables/sectors.js";
import { hybrid, piecewise, squareWave, stochasticRounding } from "../../../src/local/mechanisms.js";
import type { MakeTargets } from "../target.js";

const reports =
  (make: (epsilon: number) => Mechanism): MakeTargets =>
  (epsilon, core) => {
    const mechanism = make(epsilon);
    return [
      {
        name: "one value, the lowest or the highest",
        features: ["reported cell"],
        effort: 1,
        observe(world, random, rows) {
          const cells = new Uint32Array(rows.length);
          const values = new Float64Array(rows.length).fill(world * mechanism.top);
          core.fillReports(random, mechanism, { scale: 1, shift: 0 }, values, cells);
          rows.set(cells);
        },
      },
    ];
  };

export const sr = reports(stochasticRounding);
export const pm = reports(piecewise);
export const hm = reports(hybrid);
export const sw = reports(squareWave);
