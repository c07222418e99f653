/** Work for a part of the page that is done once its settings rest and somebody sees it, and not before. */

/** Milliseconds that settings must rest. */
const REST = 600;

export class WhenSeen<T> {
  readonly #work: (wanted: T) => void;
  #wanted: T | undefined;
  #visible = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: Element, work: (wanted: T) => void) {
    this.#work = work;
    new IntersectionObserver(([entry]) => {
      this.#visible = entry!.isIntersecting;
      this.#later();
    }).observe(element);
  }

  /** Only the newest wish counts; `undefined` is none. */
  want(wanted: T | undefined): void {
    this.#wanted = wanted;
    this.#later();
  }

  #later(): void {
    clearTimeout(this.#timer);
    if (!this.#visible || this.#wanted === undefined) return;
    this.#timer = setTimeout(() => {
      const wanted = this.#wanted!;
      this.#wanted = undefined;
      this.#work(wanted);
    }, REST);
  }
}
