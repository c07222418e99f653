/**
 * Who stored what last, kept beside each snapshot of a database that many processes write to. A client may send a `put` twice,
 * after a broken connection; if others have continued the stream in between, the second one finds a later snapshot and looks
 * like a conflict. With the last snapshot of each writer at hand, the store can tell: it was stored if the writer's last one has
 * its digest. A client sends its calls in order, so nothing of the same writer comes between a call and its repetition.
 */
import { createHash, randomBytes } from "node:crypto";

/** Writers that a stream remembers, those with the latest snapshots. */
export const MOST_WRITERS = 16;

/** A name for one store object. */
export const newWriter = (): string => randomBytes(9).toString("base64url");

/** Tells snapshots apart: two processes that were copied from one have the same writer. */
export const digestOf = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
