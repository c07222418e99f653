/** The systems ToPS is compared with: a way to choose θ, and a way to publish the clamped stream. The one list. */
import type { HierarchyName } from "./hierarchies.js";

/** "max": θ is the public bound itself, and no hold-out is needed. */
export type ThresholdName = "max" | "noisy-max" | "s-p" | "s-pak" | "percentile";

export interface Method {
  readonly threshold: ThresholdName;
  readonly hierarchy: HierarchyName;
}

export const METHODS = {
  /** Perrier, Asghar and Kaafar 2019. */
  pak: { threshold: "s-pak", hierarchy: "h2" },
  "s-p": { threshold: "s-p", hierarchy: "hhatc16" },
  "s-pak": { threshold: "s-pak", hierarchy: "hhatc16" },
  /** Not private. */
  percentile: { threshold: "percentile", hierarchy: "hhatc16" },
  h2: { threshold: "max", hierarchy: "h2" },
  h16: { threshold: "max", hierarchy: "h16" },
  hc16: { threshold: "max", hierarchy: "hc16" },
  /** Ĥc16. */
  hhatc16: { threshold: "max", hierarchy: "hhatc16" },
  flat: { threshold: "max", hierarchy: "flat" },
  unbounded: { threshold: "max", hierarchy: "unbounded" },
  "s-pak+hhatc16": { threshold: "s-pak", hierarchy: "hhatc16" },
  "nm-e+h2": { threshold: "noisy-max", hierarchy: "h2" },
  base: { threshold: "max", hierarchy: "zeros" },
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;
export const METHOD_NAMES = Object.keys(METHODS) as MethodName[];
