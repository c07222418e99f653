/** The key under which a service keeps the account of what people may spend, from the key of its store. */
import { hkdfSync } from "node:crypto";

export const budgetKey = (key: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, new Uint8Array(0), "brume-server odometer", 32));
