/** What the page and its Workers say to each other. Everything heavy happens on the Workers' side. */
import type { Statement } from "brume";
import type { Column, FileShape } from "../data/files.js";
import type { State } from "../state.js";

/** The part of the state that decides what is published. */
export type ReleaseSettings = Pick<
  State,
  | "epsilon"
  | "max"
  | "holdout"
  | "maxRange"
  | "smoother"
  | "blocks"
  | "alpha"
  | "skip"
  | "variant"
  | "seed"
  | "noise"
>;

/** Where values come from: the example of a seed, or numbers read from a file. */
export type Source =
  | { readonly kind: "example"; readonly seed: string }
  | { readonly kind: "values"; readonly values: Float64Array };

export type ToStream =
  /** Other data; what is published starts anew. */
  | { readonly type: "load"; readonly source: Source }
  /** Other settings: everything up to the present position is published again with them. */
  | { readonly type: "publish"; readonly settings: ReleaseSettings; readonly window: number }
  | { readonly type: "play"; readonly speed: number }
  | { readonly type: "pause" }
  /** Goes to a position; back means publishing from the first value on again. */
  | { readonly type: "seek"; readonly at: number }
  | { readonly type: "ask"; readonly from: number; readonly to: number }
  /** Sends back everything published so far. */
  | { readonly type: "export" };

/** The plot's lines so far, at fixed positions; NaN where nothing is known yet. */
export interface Frame {
  readonly type: "frame";
  /** Values that have streamed through. */
  readonly at: number;
  readonly total: number;
  readonly published: number;
  readonly truth: Float64Array;
  readonly private: Float64Array;
  /** 95 % of the noise around the private line. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export interface Answer {
  readonly type: "answer";
  /** The part of the range asked for that is published, in positions of the stream. */
  readonly from: number;
  readonly to: number;
  readonly truth: number;
  /** How much of the truth lies above θ and is clamped away; no error bar covers it. */
  readonly clamped: number;
  readonly threshold: number;
  readonly sum: number;
  readonly low: number;
  readonly high: number;
}

export type FromStream =
  | Frame
  | Answer
  | { readonly type: "paused"; readonly at: number }
  | { readonly type: "account"; readonly account: Statement; readonly explanation: string }
  /** Done with "publish". A problem is why no release can be made with these settings; the last good one stays. */
  | { readonly type: "published"; readonly problem: string }
  | { readonly type: "exported"; readonly first: number; readonly values: Float64Array };

/** Runs the whole of ToPL once, as many devices and a server. */
export interface ToDevices {
  readonly source: Source;
  readonly max: number;
  readonly devices: number;
  /** How many of them teach the distribution. */
  readonly learners: number;
  readonly epsilon: number;
  readonly estimator: "em" | "ems";
  readonly window: number;
}

export interface Histogram {
  /** Right ends of the bins, in units of the stream. */
  readonly ends: Float64Array;
  readonly truth: Float64Array;
  /** Empty until there is an estimate. */
  readonly estimate: Float64Array;
}

export type FromDevices =
  /** @param done of `of` reports taken */
  | { readonly type: "learning"; readonly done: number; readonly of: number }
  | { readonly type: "estimating"; readonly updates: number; readonly histogram: Histogram }
  | {
      readonly type: "threshold";
      readonly updates: number;
      readonly threshold: number;
      readonly histogram: Histogram;
    }
  | (Omit<Frame, "type"> & { readonly type: "releasing" })
  | {
      readonly type: "done";
      readonly truth: number;
      /** How much of it lies above θ. */
      readonly clamped: number;
      readonly sum: number;
      readonly low: number;
      readonly high: number;
      readonly explanation: string;
    }
  | { readonly type: "failed"; readonly message: string };

export type ToFile =
  { readonly type: "open"; readonly file: File } | { readonly type: "column"; readonly column: Column };

export type FromFile =
  | { readonly type: "shape"; readonly shape: FileShape; readonly chosen: Column }
  | { readonly type: "progress"; readonly share: number }
  | {
      readonly type: "values";
      readonly values: Float64Array;
      readonly skipped: number;
      readonly cut: boolean;
      readonly largest: number;
    }
  | { readonly type: "failed"; readonly message: string };
