/** Errors in words that an operator can act on. No message holds private data. */
import { Refusal } from "brume/node";
import type { Mark } from "./mark.js";

export const TAKEN_OVER = "store: another service writes to the same state, so this one stops";
export const UNPAID = "budget: the day cannot be charged, so nothing is published";
export const TROUBLE =
  "store: it does not take anything; events are refused until it does. Check the disk and its permissions, or the database";
export const IN_DOUBT =
  "store: it failed, and whether the batch is stored is not known; send it again with the same Idempotency-Key";

export const isStoreError = (error: unknown): boolean => (error as Error | undefined)?.name === "StoreError";

/** Whether another process continued the journal: its row is where ours should be. */
export function isTakenOver(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === "conflict" || (cause instanceof Error && isTakenOver(cause));
}

/** Makes a refusal of an error that a person can act on. The messages of the library hold public parameters only. */
export function asRefusal(error: unknown, mark: Mark | undefined): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  if (code === "conflict") return new Refusal(TAKEN_OVER, { cause: error });
  if (code === "rolled-back" && mark !== undefined)
    return new Refusal(
      `${error.message}. The file ${mark.path} says how new the state must be; if you begin with an empty state, remove that file too (docs/operate.md, "Back up, and never roll back")`,
      { cause: error },
    );
  if (error.message.startsWith("clock:"))
    return new Refusal(
      error.message.replace("open with confirmClock: true", "start once with --confirm-clock"),
      { cause: error },
    );
  return isStoreError(error) || error instanceof RangeError || error instanceof TypeError
    ? new Refusal(error.message, { cause: error })
    : error;
}

/** A code such as ENOSPC, which says nothing about data. */
export function codeOf(error: unknown): string {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  if (typeof code === "string" && /^[A-Z_]{2,40}$/.test(code)) return code;
  return cause === undefined ? "no code" : codeOf(cause);
}
