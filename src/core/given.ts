/** The options that were given, all of them or those named: the others keep the library's defaults. */
export function given<T extends object, K extends keyof T = keyof T>(
  options: T,
  names: readonly K[] = Object.keys(options) as K[],
): { [N in K]?: Exclude<T[N], undefined> } {
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as ReturnType<typeof given<T, K>>;
}
