/** Messages between the lab and its Workers. Everything heavy happens on the Workers' side. */
import type { Statement } from "brume";
import type { Lines } from "../charts/lines.js";
import type { Log } from "../data/log.js";
import type { LogColumns, Read, ReadLog } from "../data/read.js";
import type { Column, FileShape } from "../data/shape.js";
import type { Run } from "../look/coverage.js";
import type { Method, ReleaseSettings } from "../play/state.js";
import type { Answers, LimitCost, LogAnswer, LogSettings, Question, Span } from "./logPlayer.js";
import type { Moment, TimelineSettings } from "./timeline.js";

/** Where values come from: the example of a seed, or numbers read from a file. */
export type Source =
  | { readonly kind: "example"; readonly seed: string }
  | { readonly kind: "values"; readonly values: Float64Array };

/** A part of the stream, in positions. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

export type ToStream =
  /** Other data; what is published starts anew. */
  | { readonly type: "load"; readonly source: Source }
  /** Other settings: everything up to the present position is published again with them. */
  | { readonly type: "publish"; readonly settings: ReleaseSettings; readonly window: number }
  | { readonly type: "view"; readonly part: Part }
  | { readonly type: "play"; readonly speed: number }
  | { readonly type: "pause" }
  /** Goes to a position; back means publishing from the first value on again. */
  | { readonly type: "seek"; readonly at: number }
  | { readonly type: "ask"; readonly from: number; readonly to: number }
  /** Publishes the same values again, with other noise, for this plot. */
  | { readonly type: "again"; readonly releases: number }
  /** Publishes the same values again with fresh noise, under another ε if one is given, and asks for a range of each release. */
  | { readonly type: "runs"; readonly range: Part; readonly count: number; readonly epsilon?: number }
  /** Sends back everything published so far, as CSV. */
  | { readonly type: "export" };

export interface Frame {
  readonly type: "frame";
  /** Values that have streamed through. */
  readonly at: number;
  readonly total: number;
  readonly published: number;
  readonly lines: Lines;
  readonly overview: Lines;
  /** Values that a column averages: whole blocks. */
  readonly averaged: number;
}

export interface Answer {
  readonly type: "answer";
  /** The range asked for, and the part of it that is published, in positions of the stream. */
  readonly asked: Part;
  readonly from: number;
  readonly to: number;
  readonly truth: number;
  /** How much of the truth lies above θ, by the visitor's own data: no published number holds it. */
  readonly clamped: number;
  /** The library's private estimate of the sum above θ, and the most that it may be. */
  readonly hidden: { readonly sum: number; readonly high: number } | undefined;
  readonly threshold: number;
  readonly sum: number;
  readonly low: number;
  readonly high: number;
}

/** Why there is no answer. */
export interface NoAnswer {
  readonly type: "no answer";
  readonly asked: Part;
  readonly why: "held out" | "not streamed yet";
}

export type FromStream =
  | Frame
  | Answer
  | NoAnswer
  | { readonly type: "paused"; readonly at: number }
  | { readonly type: "account"; readonly account: Statement; readonly explanation: string }
  /** Done with "publish". A problem is why no release can be made with these settings; the last good one stays. */
  | { readonly type: "published"; readonly problem: string }
  | { readonly type: "again"; readonly line: Float64Array; readonly left: number }
  | { readonly type: "runs"; readonly runs: readonly Run[] }
  | { readonly type: "exported"; readonly file: Blob };

/** Asks for the lines of several methods on the same part of the same data. */
export interface ToMultiples {
  readonly type: "multiples";
  readonly source: Source;
  readonly settings: ReleaseSettings;
  readonly methods: readonly Method[];
  readonly window: number;
  readonly at: number;
  readonly part: Part;
}

export type FromMultiples =
  | { readonly type: "lines"; readonly method: Method; readonly lines: Lines; readonly off: number }
  | { readonly type: "failed"; readonly method: Method; readonly message: string };

export type ToEvents =
  | {
      readonly type: "make";
      readonly source: Source;
      readonly settings: TimelineSettings;
      /** Values that have streamed through. */
      readonly at: number;
    }
  /** Columns over one part, and everything about one range. */
  | { readonly type: "ask"; readonly part: Part; readonly range: Part }
  /** One more timeline of the same values with fresh noise, and a percentile of a range of it. */
  | { readonly type: "runs"; readonly range: Part; readonly p: number };

export type FromEvents =
  | {
      readonly type: "moments";
      readonly columns: readonly Moment[];
      readonly whole: Moment;
      /** Values in a period. */
      readonly period: number;
      readonly explanation: string;
    }
  | { readonly type: "runs"; readonly runs: readonly Run[] }
  | { readonly type: "failed"; readonly message: string };

/** Where events come from: the example, or a file. */
export type LogSource = { readonly kind: "example" } | { readonly kind: "log"; readonly log: Log };

/** Positions are minutes from the first midnight. */
export type ToLog =
  | { readonly type: "load"; readonly source: LogSource }
  /** Other settings: everything up to the present time is published again with them. */
  | { readonly type: "publish"; readonly settings: LogSettings }
  /** Which periods the plot has, and which part is marked. */
  | { readonly type: "view"; readonly period: string; readonly range: Part | undefined }
  | { readonly type: "play"; readonly speed: number }
  | { readonly type: "pause" }
  /** Goes to a position, or so far that a share of the log is through. */
  | { readonly type: "seek"; readonly at: number }
  | { readonly type: "seek share"; readonly share: number }
  /** Publishes the same events again with fresh noise, and asks each release the same question. */
  | { readonly type: "runs"; readonly question: Question; readonly count: number };

export interface LogFrame {
  readonly type: "log frame";
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly end: number;
  readonly period: string;
  readonly why?: string;
  readonly columns: readonly LogAnswer[];
  readonly answers: Answers;
}

export type FromLog =
  | LogFrame
  | {
      readonly type: "published";
      /** Days of the zone. */
      readonly days: readonly Span[];
      readonly limits: readonly LimitCost[];
      /** The most events of one person on one day. */
      readonly most: number | undefined;
      readonly explanation: string;
      readonly resolution: number;
    }
  /** Why nothing can be published with these settings. */
  | { readonly type: "refused"; readonly problem: string }
  | { readonly type: "paused"; readonly at: number }
  | { readonly type: "runs"; readonly runs: readonly Run[] };

export type ToFile =
  | { readonly type: "open"; readonly file: File }
  | { readonly type: "read"; readonly column: Column; readonly time: Column | undefined }
  | { readonly type: "read log"; readonly columns: LogColumns };

export type FromFile =
  | { readonly type: "shape"; readonly shape: FileShape }
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "values"; readonly read: Read }
  | { readonly type: "log"; readonly read: ReadLog }
  | { readonly type: "failed"; readonly message: string };
