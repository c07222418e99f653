/** The figures: adding one is a line here. */
import type { Figure } from "./figure.js";
import { figure8 } from "./localThresholds.js";
import { figure1 } from "./objective.js";
import { figure4, figure5 } from "./publication.js";
import { figure2, figure9 } from "./publishedStreams.js";
import { figure10, figure3, ours } from "./systems.js";
import { table1 } from "./table1.js";
import { figure6, figure7 } from "./thresholds.js";

export const FIGURES: readonly Figure[] = [
  ours,
  table1,
  figure1,
  figure2,
  figure3,
  figure4,
  figure5,
  figure6,
  figure7,
  figure8,
  figure9,
  figure10,
];
