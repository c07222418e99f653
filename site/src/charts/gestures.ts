/** Mouse, finger, pen, wheel and keys on a chart. A drag selects a range, wheel and pinch zoom, arrows move the cursor. */

export interface Gestures {
  /** A range while it is dragged, in shares of the width; the same twice clears it. */
  drag(from: number, to: number): void;
  /** The range when the drag ends. */
  drop(from: number, to: number): void;
  /** Makes what is shown `factor` times as long, around a share of the width. */
  zoom(factor: number, around: number): boolean;
}

export interface Keys {
  /** Moves the cursor by columns; `extend` takes the range along. */
  move(columns: number, extend: boolean): void;
  ask(): void;
  clear(): void;
  zoom(factor: number): void;
}

/** Shares of the width below which a drag is a click. */
const CLICK = 0.006;

/** @param over the part of the chart that has the lines */
export function bindPointers(over: HTMLElement, gestures: Gestures): void {
  const fingers = new Map<number, number>();
  let start: number | undefined;
  let spread = 0;
  const share = (event: PointerEvent | WheelEvent) => {
    const box = over.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const range = (event: PointerEvent): [number, number] => {
    const [a, b] = [Math.min(start!, share(event)), Math.max(start!, share(event))];
    return b - a < CLICK ? [0, 0] : [a, b];
  };
  const gap = () => Math.abs([...fingers.values()][0]! - [...fingers.values()][1]!);
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, share(event));
    over.setPointerCapture(event.pointerId);
    start = fingers.size === 1 ? share(event) : undefined;
    if (fingers.size === 2) spread = gap();
  });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, share(event));
    if (fingers.size === 2 && gap() > 0.02) {
      const middle = [...fingers.values()].reduce((a, b) => a + b) / 2;
      gestures.zoom(spread / gap(), middle);
      spread = gap();
    } else if (start !== undefined) gestures.drag(...range(event));
  });
  over.addEventListener("pointerup", (event) => {
    if (start !== undefined) gestures.drop(...range(event));
    start = undefined;
    fingers.delete(event.pointerId);
  });
  over.addEventListener("pointercancel", (event) => {
    start = undefined;
    fingers.delete(event.pointerId);
  });
  over.addEventListener(
    "wheel",
    (event) => {
      if (Math.abs(event.deltaY) <= Math.abs(event.deltaX)) return;
      // What cannot zoom any further scrolls the page.
      if (gestures.zoom(2 ** (event.deltaY / 400), share(event))) event.preventDefault();
    },
    { passive: false },
  );
}

export function bindKeys(element: HTMLElement, keys: Keys): void {
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9 }[event.key];
    if (step !== undefined) keys.move(step, event.shiftKey);
    else if (event.key === "Enter") keys.ask();
    else if (event.key === "Escape") keys.clear();
    else if (event.key === "+" || event.key === "=") keys.zoom(0.5);
    else if (event.key === "-") keys.zoom(2);
    else return;
    event.preventDefault();
  });
}
