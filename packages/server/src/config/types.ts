/** A config file, as brume.schema.json describes it. The schema has the meaning of each field. */
export type Secret = { readonly env: string } | { readonly file: string };

export type MetricType = "count" | "people" | "sum" | "mean" | "histogram" | "local";

/** Limits of a person and day. */
export interface PerPersonConfig {
  readonly events?: number | "choose";
  readonly most?: number;
  readonly perHour?: number;
  readonly sum?: number;
}

/** Keys that nobody listed become public by votes of people. */
export interface DiscoverConfig {
  readonly listed?: readonly string[];
  readonly discover: {
    readonly delta: number;
    readonly share?: number;
    readonly most?: number;
    readonly forget?: string;
  };
}

export interface MetricConfig {
  readonly type: MetricType;
  readonly epsilon: number;
  readonly every?: string;
  readonly over?: "1d" | "1w" | "1mo";
  readonly keysPerPerson?: number;
  readonly levels?: readonly string[];
  readonly perPerson?: number | PerPersonConfig;
  readonly protect?: "person" | "event";
  readonly unit?: string;
  readonly keys?:
    | readonly string[]
    | { readonly prefix: string; readonly from: number; readonly to: number }
    | DiscoverConfig;
  readonly max?: number;
  readonly min?: number;
  readonly buckets?: number;
  readonly edges?: readonly number[];
  readonly threshold?: number | "noisy-max";
  readonly holdout?: string;
  readonly lateness?: string;
  readonly skew?: string;
  readonly history?: { readonly days?: string; readonly hours?: string; readonly finer?: string };
}

export interface Config {
  readonly $schema?: string;
  readonly epsilon: number;
  readonly delta?: number;
  readonly zone?: string;
  readonly key: Secret;
  readonly metrics: Readonly<Record<string, MetricConfig>>;
  readonly store?:
    | { readonly sqlite: string }
    | { readonly postgres: Secret }
    | { readonly kafka: { readonly brokers: readonly string[]; readonly prefix?: string } };
  readonly mark?: string;
  readonly listen?: { readonly host?: string; readonly port?: number; readonly names?: readonly string[] };
  readonly tokens?: { readonly write?: Secret; readonly read?: Secret; readonly metrics?: Secret };
  readonly cors?: readonly string[];
  readonly statsd?: { readonly host?: string; readonly port: number };
  readonly limits?: {
    readonly body?: number;
    readonly batch?: number;
    readonly waiting?: number;
    readonly perMinute?: number;
    readonly commitEvery?: number;
    readonly remember?: string;
  };
  readonly log?: "debug" | "info" | "warn" | "error" | "silent";
}
