/**
 * The options that were given, all of them or those named: the others keep the library's defaults. Each is read once,
 * and only if it is the object's own. The result has no prototype: a property of Object.prototype is no option.
 */
export function given<T extends object, K extends keyof T = keyof T>(
  options: T,
  names: readonly K[] = Object.keys(options) as K[],
): { [N in K]?: Exclude<T[N], undefined> } {
  const own = Object.create(null) as ReturnType<typeof given<T, K>>;
  for (const name of names) {
    const value = Object.hasOwn(options, name) ? options[name] : undefined;
    if (value !== undefined) own[name] = value as Exclude<T[K], undefined>;
  }
  return own;
}
