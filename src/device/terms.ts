/** The server's terms at present: θ of the day. It comes from a stranger, so all of it is bounded. */
import { shown } from "../core/checks.js";

/** Which reports are wanted. The reporter checks θ itself: one of the public thresholds. */
export interface Terms {
  readonly threshold: number;
}

/** Bytes of an answer that are read. */
const MOST_BYTES = 1024;
const PATIENCE = 30_000;

/** @param url answers GET with JSON: { "threshold": 62.5 } */
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
      "terms: expected the server's threshold, got no answer of that kind; nothing was spent, report again later",
      {
        cause,
      },
    );
  }
  return checkTerms(answer);
}

/** Own properties only. */
export function checkTerms(answer: unknown): Terms {
  const threshold: unknown =
    typeof answer === "object" && answer !== null && Object.hasOwn(answer, "threshold")
      ? (answer as Terms).threshold
      : undefined;
  if (typeof threshold !== "number")
    throw new TypeError(`terms: expected a number as threshold, got ${shown(threshold)}; nothing was spent`);
  return { threshold };
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
