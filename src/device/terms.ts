/** What the server asks for at present: the phase, and θ when releasing. It comes from a stranger, so all of it is bounded. */
import { shown } from "../core/checks.js";
import { type Phase, PHASES } from "../local/report.js";

/** Which reports are wanted. The reporter checks θ itself. */
export interface Terms {
  readonly phase: Phase;
  /** For "release" only. */
  readonly threshold?: number;
}

/** Bytes of an answer that are read. */
const MOST_BYTES = 1024;
const PATIENCE = 30_000;

/** @param url answers GET with JSON: { "phase": "learn" } or { "phase": "release", "threshold": 62.5 } */
export async function fetchTerms(url: string): Promise<Terms> {
  let answer: unknown;
  try {
    const response = await fetch(url, {
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    answer = JSON.parse(await shortText(response));
  } catch (cause) {
    throw new Error(
      "terms: expected the server's phase, got no answer of that kind; nothing was spent, report again later",
      {
        cause,
      },
    );
  }
  return checkTerms(answer);
}

/** Own properties only. */
export function checkTerms(answer: unknown): Terms {
  const field = (name: string): unknown =>
    typeof answer === "object" && answer !== null && Object.hasOwn(answer, name)
      ? (answer as Record<string, unknown>)[name]
      : undefined;
  const [phase, threshold] = [field("phase"), field("threshold")];
  const known = PHASES.find((name) => name === phase);
  if (known === undefined)
    throw new TypeError(
      `terms: expected a phase "learn" or "release", got ${shown(phase)}; nothing was spent`,
    );
  return known === "learn" ? { phase: known } : { phase: known, threshold: threshold as number };
}

async function shortText(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      throw new RangeError(`more than ${MOST_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
