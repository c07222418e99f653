/** The Worker behind "let the machine attack": the library's own audit, with more and more runs. */
import { audit, type AuditOptions } from "brume-research";

export interface ToAudit {
  readonly epsilon: number;
  readonly fault: AuditOptions["break"] | undefined;
}

export type FromAudit =
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "bound"; readonly samples: number; readonly bound: number; readonly event: string }
  | { readonly type: "done" };

/** Runs in each world. */
const SAMPLES = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000];

addEventListener("message", ({ data: { epsilon, fault } }: MessageEvent<ToAudit>) => {
  const all = SAMPLES.reduce((a, b) => a + b);
  let before = 0;
  for (const samples of SAMPLES) {
    const { lowerBound, event } = audit({
      mechanism: "tops",
      epsilon,
      samples,
      break: fault,
      progress: (done, of) => send({ type: "progress", share: (before + (samples * done) / of) / all }),
    });
    before += samples;
    send({ type: "bound", samples, bound: lowerBound, event });
  }
  send({ type: "done" });
});

function send(message: FromAudit): void {
  postMessage(message);
}
