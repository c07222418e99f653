/** Systems to compare ToPS with, behind the same interface. */
import type { Publisher } from "../../src/stream/system.js";
import { tops } from "../../src/stream/stream.js";
import type { TopsOptions } from "../../src/stream/options.js";
import { chooseCore } from "../../src/core/choose.js";
import { secretKey } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { type BaselineOptions, resolveBaseline } from "./options.js";
import { Baseline } from "./publisher.js";

export { METHOD_NAMES, METHODS, type MethodName } from "./methods.js";
export type { BaselineOptions } from "./options.js";

/** Makes the system that `method` names. */
export function baseline(options: BaselineOptions): Publisher {
  const settings = resolveBaseline(options);
  const core = chooseCore(settings.core);
  const key = settings.unsafeSeed === undefined ? secretKey() : unsafeKey(settings.unsafeSeed);
  return new Baseline(settings, core, key);
}

export type SystemOptions = BaselineOptions | (TopsOptions & { readonly method: "tops" });

/** ToPS or a system it is compared with. */
export function system(options: SystemOptions): Publisher {
  if (options.method !== "tops") return baseline(options);
  const { method, ...rest } = options;
  return tops(rest);
}
