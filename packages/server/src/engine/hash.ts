/** A keyed hash of 16 bytes. */
import { createHmac } from "node:crypto";

export const hashOf = (key: Uint8Array, text: string): Uint8Array =>
  createHmac("sha256", key).update(text).digest().subarray(0, 16);
