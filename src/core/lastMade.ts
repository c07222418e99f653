/**
 * Memoises the last call. Streams of a hub differ in their names alone, so they share what is public and made from their
 * settings; nobody changes it.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lastMade<A extends readonly number[], T>(make: (...numbers: A) => T): (...numbers: A) => T {
  let last: { readonly numbers: A; readonly made: T } | undefined;
  return (...numbers) => {
    const same =
      last?.numbers.length === numbers.length &&
      last.numbers.every((number, i) => Object.is(number, numbers[i]));
    if (!same) last = { numbers, made: make(...numbers) };
    return last!.made;
  };
}
