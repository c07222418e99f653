/** Everything that the comparison runs, by name: what it is, what its ε is for, and how it is made. */
import type { StreamOptions } from "../../src/stream/options.js";
import type { System } from "../../src/stream/system.js";
import { type MethodName, system, type SystemOptions } from "../systems/index.js";
import { WINDOW } from "../systems/wEvent.js";

/** Unit that ε protects. Rows of different units are never put into one ranking. */
export type PrivacyUnit = "event" | "event-delta" | "window" | "user";

export const UNIT_TITLES: Readonly<Record<PrivacyUnit, string>> = {
  event: "ε for one value",
  "event-delta": "(ε, δ) for one value",
  window: `ε for any ${WINDOW} values in a row`,
  user: "ε for all values of the horizon",
};

export interface Opponent {
  readonly title: string;
  readonly unit: PrivacyUnit;
  readonly source: string;
  /** Numbers that it must keep to publish. */
  readonly state: string;
  /** Whether answers are sums of clamped values plus noise that does not depend on them: the best θ follows from its variance. */
  readonly additive: boolean;
  readonly method: MethodName | "default" | "paper";
}

const row = (
  method: Opponent["method"],
  title: string,
  unit: PrivacyUnit,
  source: string,
  state: string,
  additive = true,
): Opponent => ({ method, title, unit, source, state, additive });

const OURS = "this library";
const PAPER = "Wang et al., CCS 2021";

export const OPPONENTS = {
  default: row("default", "Brume, default", "event", OURS, "blocks of the tree", false),
  paper: row("paper", "ToPS as printed", "event", PAPER, "blocks of the tree", false),
  "k-ary": row(
    "k-ary",
    "k-ary tree with subtraction, k = 19",
    "event",
    "Andersson, Pagh, Steiner, Torkamani 2025",
    "9·log₁₉ T",
  ),
  honaker: row("honaker", "Honaker's estimator, online", "event", "Honaker 2015", "log₂ T"),
  "smooth-binary": row(
    "smooth-binary",
    "smooth binary, Laplace noise",
    "event",
    "after Andersson, Pagh 2023",
    "log₂ T",
  ),
  binary: row(
    "binary",
    "binary tree, length known",
    "event",
    "Dwork et al. 2010; Chan et al. 2011",
    "log₂ T",
  ),
  "binary-monotone": row(
    "binary-monotone",
    "binary tree, monotone",
    "event",
    "Chan, Shi, Song 2011",
    "log₂ T",
    false,
  ),
  "binary-hybrid": row(
    "binary-hybrid",
    "binary tree without end (hybrid)",
    "event",
    "Chan, Shi, Song 2011",
    "log₂ t",
  ),
  h2: row("h2", "H2, ranges from fewest nodes", "event", PAPER, "2T for ranges"),
  h16: row("h16", "H16, ranges from fewest nodes", "event", PAPER, "1.07 T for ranges"),
  hc16: row("hc16", "Hc16, consistent", "event", PAPER, "blocks of the tree"),
  flat: row("flat", "noise on every value", "event", "Dwork et al. 2006", "1"),
  "pegasus-median": row("pegasus-median", "PeGaSus, median", "event", "Chen et al. 2017", "a group", false),
  "pegasus-average": row(
    "pegasus-average",
    "PeGaSus, average",
    "event",
    "Chen et al. 2017",
    "a group",
    false,
  ),
  "pegasus-james-stein": row(
    "pegasus-james-stein",
    "PeGaSus, James–Stein",
    "event",
    "Chen et al. 2017",
    "a group",
    false,
  ),
  partition: row(
    "partition",
    "online partition, sparse streams",
    "event",
    "Dwork et al. 2015",
    "log₂ T",
    false,
  ),
  zeros: row("base", "publish zeros", "event", "", "0", false),
  "square-root": row(
    "square-root",
    "square-root factorisation",
    "event-delta",
    "Fichtenberger et al. 2023; Henzinger et al. 2023",
    "101",
  ),
  blt: row("blt", "BLT, 8 buffers", "event-delta", "Dvijotham et al. 2024", "8"),
  banded: row(
    "banded",
    "banded square root, p = 256",
    "event-delta",
    "Choquette-Choo et al. 2023; Kalinin, Lampert 2024",
    "256",
  ),
  "smooth-binary-gauss": row(
    "smooth-binary-gauss",
    "smooth binary",
    "event-delta",
    "Andersson, Pagh 2023",
    "log₂ T",
  ),
  "k-ary-gauss": row(
    "k-ary-gauss",
    "k-ary with subtraction, Gaussian noise",
    "event-delta",
    "after Andersson et al. 2025",
    "9·log₁₉ T",
  ),
  bd: row("bd", `budget distribution, w = ${WINDOW}`, "window", "Kellaris et al. 2014", "w", false),
  ba: row("ba", `budget absorption, w = ${WINDOW}`, "window", "Kellaris et al. 2014", "1", false),
  fast: row("fast", "FAST, horizon T", "user", "Fan, Xiong 2014", "10", false),
} as const satisfies Record<string, Opponent>;

export type OpponentName = keyof typeof OPPONENTS;
export const OPPONENT_NAMES = Object.keys(OPPONENTS) as readonly OpponentName[];

/** θ: a public number; or "rule", chosen from the hold-out by the rule of `privateStream` (of the paper, for the paper's row). */
export type Theta = number | "rule";

/** Where a unit is not one value, a hold-out that chooses θ is not private in it: only a public θ makes sense. */
export const hasRule = (name: OpponentName): boolean =>
  OPPONENTS[name].unit === "event" || OPPONENTS[name].unit === "event-delta";

export function makeOpponent(
  name: OpponentName,
  theta: Theta,
  shared: Pick<StreamOptions, "epsilon" | "max" | "maxRange" | "unsafeSeed"> & { readonly holdout: number },
): System {
  const { method } = OPPONENTS[name];
  const ours = method === "default" || method === "paper";
  return system({
    ...shared,
    ...(ours ? { method: "tops", variant: method } : { method }),
    ...(theta === "rule" ? (ours ? {} : { threshold: "default" }) : { threshold: theta }),
  } as SystemOptions);
}
