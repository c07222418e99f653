/** Where static data end and the arena begins, in bytes. */
export function heapBase(): usize {
  return __heap_base;
}
