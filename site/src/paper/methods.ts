/** The systems that the page can compare, by the names they have in its address. */
import { OPPONENTS, type PrivacyUnit, type SystemName } from "brume-research";

export interface Method {
  readonly name: string;
  readonly system: SystemName;
  /** "paper": ToPS exactly as printed. */
  readonly variant: "default" | "paper";
  /** The unit of privacy that ε protects. Results of different units are never put into one ranking. */
  readonly unit: PrivacyUnit;
  /** "rule": by the rule of `privateStream`, from the hold-out; "own": as the system itself does it. */
  readonly theta: "own" | "rule";
}

const method = (
  system: SystemName,
  name: string,
  unit: PrivacyUnit = "event",
  variant: Method["variant"] = "default",
): Method => ({ name, system, variant, unit, theta: "own" });

/** The paper's systems, each with its own way to choose θ. */
const OF_THE_PAPER: Readonly<Record<string, Method>> = {
  tops: method("tops", "Brume (ToPS)"),
  paper: method("tops", "ToPS as printed", "event", "paper"),
  pak: method("pak", "PAK", "event-delta"),
  "s-pak": method("s-pak", "S-PAK threshold, Ĥc16", "event-delta"),
  "s-p": method("s-p", "S-P threshold, Ĥc16", "event-delta"),
  "nm-h2": method("nm-e+h2", "NM-E threshold, H2"),
  hhatc16: method("hhatc16", "Ĥc16, no threshold"),
  hc16: method("hc16", "Hc16, no threshold"),
  h16: method("h16", "H16, no threshold"),
  h2: method("h2", "H2, no threshold"),
  unbounded: method("unbounded", "Binary, unbounded"),
  flat: method("flat", "Flat Laplace"),
  base: method("base", "Publish zeros"),
};

/** Mechanisms of other papers, with our θ where ε is for one value; a hold-out is not private in the other units. */
const opponents = Object.entries(OPPONENTS)
  .filter(([key]) => !["default", "zeros", ...Object.keys(OF_THE_PAPER)].includes(key))
  .map(([key, { title, unit, method: system }]): [string, Method] => {
    const theta = unit === "event" || unit === "event-delta" ? "rule" : "own";
    return [key, { name: title, system: system as SystemName, variant: "default", unit, theta }];
  });

export const METHODS: Readonly<Record<string, Method>> = {
  ...OF_THE_PAPER,
  ...Object.fromEntries(opponents),
};
