/** Four hundred devices on a canvas; their reports fly off to the server. */
import { colours, onColours } from "../charts/theme.js";

const SIDE = 20;
/** Milliseconds that a report flies. */
const FLIGHT = 900;

export class Crowd {
  readonly #canvas: HTMLCanvasElement;
  readonly #onPick: (device: number) => void;
  #look = colours();
  /** When each device sends, in milliseconds of the page; Infinity before a run. */
  #sends = new Float64Array(SIDE * SIDE).fill(Infinity);
  #picked = -1;
  #running = false;

  constructor(canvas: HTMLCanvasElement, onPick: (device: number) => void) {
    this.#canvas = canvas;
    this.#onPick = onPick;
    onColours(() => {
      this.#look = colours();
      this.#paint(performance.now());
    });
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const cell = (at: number, size: number) =>
        Math.min(SIDE - 1, Math.max(0, Math.floor((at / size) * SIDE)));
      this.#pick(
        SIDE * cell(event.clientY - box.top, box.height) + cell(event.clientX - box.left, box.width),
      );
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -SIDE, ArrowDown: SIDE, Enter: 0 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.#pick(Math.min(SIDE * SIDE - 1, Math.max(0, this.#picked + step)));
    });
    this.#paint(0);
  }

  /** Lets every device send once within `pace` milliseconds, in an order of its own. */
  start(pace: number): void {
    const now = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const order = crypto.getRandomValues(new Uint32Array(SIDE * SIDE));
    this.#sends = Float64Array.from(order, (n) => (still ? -FLIGHT : now + (n / 2 ** 32) * pace));
    if (!this.#running) this.#animate();
  }

  #pick(device: number): void {
    this.#picked = device;
    this.#onPick(device);
    this.#paint(performance.now());
  }

  /** Runs while anything flies; then nothing is painted any more. */
  #animate(): void {
    this.#running = true;
    const frame = (now: number) => {
      this.#paint(now);
      const last = this.#sends.reduce((a, b) => Math.max(a, b));
      if (now < last + FLIGHT && !document.hidden) requestAnimationFrame(frame);
      else this.#running = false;
    };
    requestAnimationFrame(frame);
  }

  #paint(now: number): void {
    const ctx = this.#canvas.getContext("2d")!;
    const { width } = this.#canvas;
    const size = width / SIDE;
    ctx.clearRect(0, 0, width, width);
    this.#sends.forEach((sends, device) => {
      const [x, y] = [((device % SIDE) + 0.5) * size, (Math.floor(device / SIDE) + 0.5) * size];
      const sent = now >= sends;
      ctx.fillStyle = sent ? this.#look.privateSoft : this.#look.held;
      ctx.strokeStyle = sent ? this.#look.private : this.#look.quiet;
      ctx.lineWidth = device === this.#picked ? 4 : 1.2;
      ctx.beginPath();
      ctx.roundRect(x - size * 0.2, y - size * 0.33, size * 0.4, size * 0.66, 4);
      ctx.fill();
      ctx.stroke();
      const flown = (now - sends) / FLIGHT;
      if (flown > 0 && flown < 1) {
        ctx.globalAlpha = 1 - flown;
        ctx.fillStyle = this.#look.private;
        ctx.beginPath();
        ctx.arc(x + (width + 40 - x) * flown ** 2, y + (width / 2 - y) * flown, 5, 0, 2 * Math.PI);
        ctx.fill();
        ctx.globalAlpha = 1;
      }
    });
  }
}
