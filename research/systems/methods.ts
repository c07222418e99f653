/** The systems ToPS is compared with: a way to choose θ, and a way to publish the clamped stream. The one list. */
import type { HierarchyName } from "./hierarchies.js";

/** "max": θ is the public bound itself, and no hold-out is needed. "default": the rule of `privateStream`. */
export type ThresholdName = "max" | "default" | "noisy-max" | "s-p" | "s-pak" | "percentile";

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
  /** Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011. */
  binary: { threshold: "max", hierarchy: "binary" },
  "binary-monotone": { threshold: "max", hierarchy: "binary-monotone" },
  "binary-hybrid": { threshold: "max", hierarchy: "binary-hybrid" },
  honaker: { threshold: "max", hierarchy: "honaker" },
  /** Andersson, Pagh and Torkamani 2024; Andersson and Pagh 2023. */
  "k-ary": { threshold: "max", hierarchy: "k-ary" },
  "k-ary-gauss": { threshold: "max", hierarchy: "k-ary-gauss" },
  "smooth-binary": { threshold: "max", hierarchy: "smooth-binary" },
  "smooth-binary-gauss": { threshold: "max", hierarchy: "smooth-binary-gauss" },
  /** Fichtenberger, Henzinger, Upadhyay 2023; Choquette-Choo et al. 2023; Dvijotham et al. 2024. */
  "square-root": { threshold: "max", hierarchy: "square-root" },
  banded: { threshold: "max", hierarchy: "banded" },
  blt: { threshold: "max", hierarchy: "blt" },
  /** Chen et al. 2017, by smoother. */
  "pegasus-average": { threshold: "max", hierarchy: "pegasus-average" },
  "pegasus-median": { threshold: "max", hierarchy: "pegasus-median" },
  "pegasus-james-stein": { threshold: "max", hierarchy: "pegasus-james-stein" },
  /** Dwork, Naor, Reingold and Rothblum 2015. */
  partition: { threshold: "max", hierarchy: "partition" },
  /** Kellaris et al. 2014: any w values in a row are protected. */
  bd: { threshold: "max", hierarchy: "bd" },
  ba: { threshold: "max", hierarchy: "ba" },
  /** Fan and Xiong 2014: all values of a horizon are protected. */
  fast: { threshold: "max", hierarchy: "fast" },
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;
export const METHOD_NAMES = Object.keys(METHODS) as MethodName[];
