/** "Let the machine attack": the audit runs in a Worker, and its lower bound grows on the plot. */
import { curvesChart } from "../charts/curves.js";
import { onColours } from "../charts/theme.js";
import { byId } from "../look/dom.js";
import { amount, atLeast, count } from "../look/format.js";
import { failureNote, type Job, startJob } from "../look/job.js";
import type { FromAudit, ToAudit } from "../workers/audit.js";

const FAULTS = {
  none: undefined,
  scale: { kind: "scale", factor: 0.7 },
  float: { kind: "float" },
} as const;

export class Machine {
  readonly #epsilon: () => number;
  #job: Job<ToAudit> | undefined;
  #bounds: { readonly x: number; readonly y: number }[] = [];
  /** The promise that the bounds belong to. */
  #claimed = 1;

  constructor(epsilon: () => number) {
    this.#epsilon = epsilon;
    byId("machine-go").addEventListener("click", () => this.#start());
    byId("machine-stop").addEventListener("click", () => this.#end("Stopped."));
    byId("fault").addEventListener("change", () => this.clear());
    onColours(() => this.#paint());
    this.clear();
  }

  /** Other settings: what was found no longer belongs to them. */
  clear(): void {
    this.#bounds = [];
    this.#claimed = this.#epsilon();
    this.#end("");
    this.#paint();
  }

  #start(): void {
    this.clear();
    byId<HTMLButtonElement>("machine-stop").disabled = false;
    byId("machine-say").textContent = "Attacking…";
    const fault = FAULTS[byId<HTMLSelectElement>("fault").value as keyof typeof FAULTS];
    this.#job = startJob<ToAudit, FromAudit>(
      () => new Worker(new URL("../workers/audit.ts", import.meta.url), { type: "module" }),
      (message) => this.#hear(message),
      () => byId("machine-plot").before(failureNote(() => this.#start())),
    );
    this.#job.tell({ epsilon: this.#claimed, fault });
  }

  #hear(message: FromAudit): void {
    if (message.type === "progress") {
      byId<HTMLProgressElement>("machine-progress").value = message.share;
      return;
    }
    if (message.type === "done") return this.#end(undefined);
    this.#bounds.push({ x: message.samples, y: message.bound });
    const broken = message.bound > this.#claimed;
    byId("machine-say").textContent =
      `${count(2 * message.samples)} runs show ε ≥ ${atLeast(message.bound)}, and ε = ${amount(this.#claimed)} is promised. ` +
      (broken ? "The promise is broken: this release is not what it says." : "That is within the promise.");
    this.#paint();
  }

  #end(words: string | undefined): void {
    this.#job?.stop();
    this.#job = undefined;
    byId<HTMLButtonElement>("machine-stop").disabled = true;
    if (words === undefined) return;
    byId("machine-say").textContent = words;
    byId<HTMLProgressElement>("machine-progress").value = 0;
  }

  #paint(): void {
    const place = byId("machine-plot");
    const points = this.#bounds.length === 0 ? [] : this.#bounds;
    place.replaceChildren(
      curvesChart({
        width: Math.max(320, place.clientWidth),
        height: 320,
        linear: true,
        xLabel: "runs in each world",
        yLabel: "ε that the attack proves",
        xTicks: [1000, 4000, 16_000, 64_000],
        xText: count,
        yText: (y) => amount(y),
        level: { y: this.#claimed, name: `promised: ε = ${amount(this.#claimed)}` },
        curves: [{ name: "lower bound", look: 0, points }],
      }),
    );
  }
}
