/** The systems that the page can compare, by the names they have in its address. */
import type { SystemName } from "brume/research";

export interface Method {
  readonly name: string;
  readonly system: SystemName;
  /** "paper": ToPS exactly as printed. */
  readonly variant: "default" | "paper";
}

const method = (system: SystemName, name: string, variant: Method["variant"] = "default"): Method => ({
  name,
  system,
  variant,
});

export const METHODS: Readonly<Record<string, Method>> = {
  tops: method("tops", "Brume (ToPS)"),
  paper: method("tops", "ToPS as printed", "paper"),
  pak: method("pak", "PAK, (ε, δ)"),
  "s-pak": method("s-pak", "S-PAK threshold, Ĥc16"),
  "s-p": method("s-p", "S-P threshold, Ĥc16"),
  "nm-h2": method("nm-e+h2", "NM-E threshold, H2"),
  hhatc16: method("hhatc16", "Ĥc16, no threshold"),
  hc16: method("hc16", "Hc16, no threshold"),
  h16: method("h16", "H16, no threshold"),
  h2: method("h2", "H2, no threshold"),
  unbounded: method("unbounded", "Binary, unbounded"),
  flat: method("flat", "Flat Laplace"),
  base: method("base", "Publish zeros"),
};
