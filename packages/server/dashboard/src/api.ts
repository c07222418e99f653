/** What the dashboard asks the service. */

export interface MetricInfo {
  readonly name: string;
  readonly type: "count" | "sum" | "mean" | "histogram" | "local";
  readonly unit: string;
  /** Milliseconds. */
  readonly every: number;
  /** How long a block is, such as "16m"; reports of devices have none. */
  readonly estimateEvery: string | null;
  readonly epsilon: number;
  readonly keys: readonly string[];
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
  readonly total?: Estimate;
  readonly quantiles?: readonly (Estimate & { readonly p: number })[];
}

export interface Budget {
  readonly limit: number;
  readonly spent: number;
  readonly left: number;
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

export const metrics = async (): Promise<{ now: number; metrics: readonly MetricInfo[] }> =>
  (await get("v1/metrics")).json() as Promise<{ now: number; metrics: readonly MetricInfo[] }>;

export const statementText = async (): Promise<string> => (await get("v1/statement?format=text")).text();

export const budget = async (): Promise<{
  budget: Budget;
  metrics: readonly { name: string; epsilon: number; unit: string }[];
}> => (await get("v1/statement")).json() as ReturnType<typeof budget>;

export interface Question {
  readonly metric: string;
  readonly key: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly quantiles?: readonly number[];
}

const textOf = ({ metric, key, from, to, quantiles }: Question, every?: string): string =>
  `v1/query?${new URLSearchParams({
    metric,
    from: String(from),
    to: String(to),
    ...(key === undefined ? {} : { key }),
    ...(every === undefined ? {} : { every }),
    ...(quantiles === undefined ? {} : { quantiles: quantiles.join(",") }),
  })}`;

export const ask = async (question: Question): Promise<Answer> =>
  (await get(textOf(question))).json() as Promise<Answer>;

export const askSteps = async (question: Question, step: number): Promise<readonly Answer[]> =>
  ((await (await get(textOf(question, `${step}ms`))).json()) as { answers: readonly Answer[] }).answers;

/** Of a local metric: over all reports there are, since they carry no time. */
export interface LocalAnswer extends Estimate {
  /** Reports that make the mean, and those that came before, to choose θ. */
  readonly reports: number;
  readonly learned: number;
  readonly quantiles: readonly (Estimate & { readonly p: number })[];
}

export const askLocal = async (metric: string, quantiles: readonly number[]): Promise<LocalAnswer> => {
  const question = new URLSearchParams({ metric, quantiles: quantiles.join(",") });
  return (await get(`v1/query?${question}`)).json() as Promise<LocalAnswer>;
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
