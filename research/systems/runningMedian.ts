/** The median of a growing list of numbers: a heap of the lower half and one of the upper half. */

/** Smallest first. */
class Heap {
  readonly #items: number[] = [];

  get length(): number {
    return this.#items.length;
  }

  get first(): number {
    return this.#items[0]!;
  }

  clear(): void {
    this.#items.length = 0;
  }

  add(item: number): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    for (let parent; at > 0 && items[(parent = (at - 1) >> 1)]! > item; at = parent)
      items[at] = items[parent]!;
    items[at] = item;
  }

  /** Takes the smallest out. */
  take(): number {
    const items = this.#items;
    const smallest = items[0]!;
    const item = items.pop()!;
    if (items.length === 0) return smallest;
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child++;
      if (items[child]! >= item) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
    return smallest;
  }
}

export class RunningMedian {
  /** The lower half, negated: its largest first. It has as many as the upper half, or one more. */
  readonly #lower = new Heap();
  readonly #upper = new Heap();

  clear(): void {
    this.#lower.clear();
    this.#upper.clear();
  }

  add(value: number): void {
    if (this.#lower.length === 0 || value <= -this.#lower.first) this.#lower.add(-value);
    else this.#upper.add(value);
    if (this.#lower.length > this.#upper.length + 1) this.#upper.add(-this.#lower.take());
    else if (this.#lower.length < this.#upper.length) this.#lower.add(-this.#upper.take());
  }

  /** The median; of two middle values their mean. */
  get value(): number {
    const low = -this.#lower.first;
    return this.#lower.length > this.#upper.length ? low : (low + this.#upper.first) / 2;
  }
}
