/** Systems to compare ToPS with, behind the same interface. */
import type { System } from "../../src/stream/system.js";
import { valueStream } from "../../src/stream/holdoutStream.js";
import type { StreamOptions } from "../../src/stream/options.js";
import { chooseCore } from "../../src/core/choose.js";
import { given } from "../../src/core/given.js";
import { secretKey } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { type ComparisonOptions, resolveComparison } from "./options.js";
import { makeComparison } from "./comparison.js";

export { METHOD_NAMES, METHODS, type MethodName } from "./methods.js";
export type { ComparisonOptions } from "./options.js";

/** Makes the system that `method` names. */
export function comparison(options: ComparisonOptions): System {
  const settings = resolveComparison(options);
  const core = chooseCore(settings.output.core);
  const key =
    settings.privacy.unsafeSeed === undefined ? secretKey() : unsafeKey(settings.privacy.unsafeSeed);
  return makeComparison(settings, core, key);
}

export type SystemOptions = ComparisonOptions | (StreamOptions & { readonly method: "tops" });

/** ToPS or a system it is compared with. */
export function system(asked: SystemOptions): System {
  const options = given(asked) as SystemOptions;
  if (options.method !== "tops") return comparison(options);
  const { method, ...rest } = options;
  return valueStream(rest);
}
