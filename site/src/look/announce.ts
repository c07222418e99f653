/** Tells a screen reader the newest sentence, at most every two seconds. */
const PAUSE = 2000; // ms

/** @param region an element with aria-live */
export function announcer(region: HTMLElement): (sentence: string) => void {
  let next: string | undefined;
  let busy = false;
  const speak = () => {
    busy = next !== undefined;
    if (next === undefined) return;
    region.textContent = next;
    next = undefined;
    setTimeout(speak, PAUSE);
  };
  return (sentence) => {
    next = sentence;
    if (!busy) speak();
  };
}
