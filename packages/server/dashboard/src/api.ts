/** Requests of the dashboard to the service. */

export interface MetricInfo {
  readonly name: string;
  readonly type: "count" | "people" | "sum" | "mean" | "histogram" | "local";
  readonly unit: string;
  /** How often a number is published, such as "1m"; reports of devices have none. */
  readonly every: string | null;
  /** The periods that have numbers of their own, finest first. */
  readonly levels: readonly string[];
  /** When the next number comes, in milliseconds since 1970. */
  readonly next: number | null;
  readonly epsilon: number;
  /** The lowest value of an event, of sums and means. */
  readonly min?: number | null;
  /** Whether values above the bound are counted, with noise: where the bound is public nobody spends ε on that. */
  readonly countsClipped?: boolean;
  /** The limit of a person and day. Without `events` and `sum`, how many events is not chosen yet. */
  readonly perPerson: { readonly events?: number; readonly perHour?: number; readonly sum?: number } | null;
  /** The period in which a person counts once, and under how many keys; for metrics of distinct people. */
  readonly people?: { readonly over: "1d" | "1w" | "1mo"; readonly keysPerPerson: number };
  readonly keys: readonly string[];
}

export interface About {
  readonly now: number;
  /** Whose hours and days. */
  readonly zone: string;
  readonly metrics: readonly MetricInfo[];
}

export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Answer extends Estimate {
  /** Milliseconds since 1970: what is published of the range. */
  readonly from: number;
  readonly to: number;
  readonly complete: boolean;
  /** When there will be more; null if nothing more comes. */
  readonly next: number | null;
  readonly total?: Estimate | null;
  readonly quantiles?: readonly (Estimate & { readonly p: number })[];
  readonly limited?: { readonly share: number; readonly low: number; readonly high: number };
  readonly clipped?: { readonly events: number; readonly low: number; readonly high: number };
}

export interface Series {
  readonly period: string;
  /** Why the service chose this period. */
  readonly why?: string;
  readonly answers: readonly Answer[];
}

export interface Budget {
  readonly limit: number;
  readonly spent: number;
  readonly left: number;
  /** 0, or the probability that a key that only one person used becomes public. */
  readonly delta: number;
}

export interface PlannedDays {
  readonly days: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly approximate: { readonly epsilon: number; readonly delta: number };
}

/** The service wants a token, or another one. */
export class TokenNeeded extends Error {}

let token = sessionStorage.getItem("token") ?? "";

export function setToken(text: string): void {
  token = text;
  sessionStorage.setItem("token", text);
}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, {
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.status === 401) throw new TokenNeeded();
  if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
  return response;
}

export const metrics = async (): Promise<About> => (await get("v1/metrics")).json() as Promise<About>;

export const statementText = async (): Promise<string> => (await get("v1/statement?format=text")).text();

export interface Statement {
  readonly unit: string;
  readonly budget: Budget;
  readonly plan: readonly PlannedDays[];
  /** Settings that decide what a person spends, as they changed in the last month: newest first. */
  readonly changes: readonly {
    readonly day: string;
    readonly metric: string;
    readonly was: string | null;
    readonly now: string | null;
  }[];
  readonly metrics: readonly {
    readonly name: string;
    readonly epsilon: number;
    readonly unit: string;
  }[];
}

export const statement = async (): Promise<Statement> =>
  (await get("v1/statement")).json() as Promise<Statement>;

/** A record for the public registry of deployments, for the operator to complete. */
export const registryRecord = async (): Promise<Blob> => (await get("v1/statement?format=registry")).blob();

/** Why no event can be taken; undefined if they can. */
export async function trouble(): Promise<string | undefined> {
  const response = await fetch("readyz");
  if (response.ok) return undefined;
  return ((await response.json()) as { readonly error: string }).error;
}

export interface Question {
  readonly metric: string;
  readonly key: string | undefined;
  readonly quantiles?: readonly number[];
}

const textOf = ({ metric, key, quantiles }: Question, time: Readonly<Record<string, string>>): string =>
  `v1/query?${new URLSearchParams({
    metric,
    ...(key === undefined ? {} : { key }),
    ...(quantiles === undefined ? {} : { quantiles: quantiles.join(",") }),
    ...time,
  })}`;

/** The newest range of a length that ends with a published period. @param last undefined for one period */
export const askLast = async (question: Question, last?: number): Promise<Answer> =>
  (await get(textOf(question, last === undefined ? {} : { last: `${last}ms` }))).json() as Promise<Answer>;

/** The number of [from, to), as far as it is published. @param confidence default 0.95 */
export const askBetween = async (
  question: Question,
  from: number,
  to: number,
  confidence?: number,
): Promise<Answer> =>
  (
    await get(
      textOf(question, {
        ...{ from: String(from), to: String(to) },
        ...(confidence === undefined ? {} : { confidence: String(confidence) }),
      }),
    )
  ).json() as Promise<Answer>;

/** The numbers of a chart, as a table. */
export const seriesCsv = async (question: Question, from: number, to: number, every: string): Promise<Blob> =>
  (await get(textOf(question, { from: String(from), to: String(to), every, format: "csv" }))).blob();

/** One answer per period of [from, to). @param every "auto" for the finest period that is not mostly noise */
export const askSeries = async (
  question: Question,
  from: number,
  to: number,
  every = "auto",
): Promise<Series> =>
  (await get(textOf(question, { from: String(from), to: String(to), every }))).json() as Promise<Series>;

/** Answer of a local metric about whole days, and today so far. */
export interface LocalAnswer extends Omit<Answer, "clipped"> {
  readonly reports: number;
  /** Values that the bound of their day clamped; null where all values count as they are. */
  readonly clipped: { readonly threshold: number; readonly share: number; readonly high: number } | null;
}

/** One answer per day that meets [from, to). */
export const askDays = async (
  metric: string,
  from: number,
  to: number,
): Promise<{ readonly answers: readonly LocalAnswer[] }> =>
  (
    await get(textOf({ metric, key: undefined }, { from: String(from), to: String(to), every: "1d" }))
  ).json() as ReturnType<typeof askDays>;

/** One answer over the days from a time on. @param to default: now */
export const askSince = async (
  metric: string,
  from: number,
  quantiles: readonly number[],
  to?: number,
): Promise<LocalAnswer> => {
  const question = { metric, key: undefined, ...(quantiles.length === 0 ? {} : { quantiles }) };
  const time = { from: String(from), ...(to === undefined ? {} : { to: String(to) }) };
  return (await get(textOf(question, time))).json() as Promise<LocalAnswer>;
};

/** Calls back whenever something is published, until the signal says stop. Comes back by itself after a break. */
export async function follow(
  onNews: () => void,
  onState: (live: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const reader = (await get("v1/live", signal)).body!.pipeThrough(new TextDecoderStream()).getReader();
      onState(true);
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (value.includes("data:")) onNews();
      }
    } catch (error) {
      if (error instanceof TokenNeeded) return;
    }
    onState(false);
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
