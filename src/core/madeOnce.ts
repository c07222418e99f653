/** Memoises by object: what is public and follows from settings or a shape is made once, and freed with them. */
/* @__NO_SIDE_EFFECTS__ */
export function madeOnce<K extends object, T>(make: (from: K) => T): (from: K) => T {
  const made = new WeakMap<K, { readonly it: T }>();
  return (from) => {
    let found = made.get(from);
    if (found === undefined) made.set(from, (found = { it: make(from) }));
    return found.it;
  };
}
