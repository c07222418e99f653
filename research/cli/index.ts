/** Commands that this package adds to `brume`, by name, each loaded when it is called for. */
import type { Command } from "../../src/cli/command.js";

export const commands = {
  evaluate: async () => (await import("./evaluate.js")).evaluate,
  audit: async () => (await import("./audit.js")).audit,
  ldp: async () => (await import("./ldp.js")).ldp,
  paper: async () => (await import("./paper.js")).paper,
} satisfies Record<string, () => Promise<Command>>;
