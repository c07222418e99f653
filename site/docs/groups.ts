/** The pages of docs/ in the order of a reader: what is used comes first, then how to run it, then why to believe it. */

export interface Group {
  readonly title: string;
  /** Names of files in docs/, without ".md". */
  readonly pages: readonly string[];
  /** Arguments and proofs may be longer than three screens. */
  readonly long?: boolean;
}

export const GROUPS: readonly Group[] = [
  { title: "Start", pages: ["start", "which-function", "choose-epsilon", "recipes", "read-an-answer"] },
  { title: "Use", pages: ["events", "people-and-keys", "restarts", "budget", "devices", "command-line"] },
  {
    title: "Run",
    pages: [
      ...["service", "service-http", "import", "operate", "integrations"],
      ...["cluster", "cluster-events", "runtimes"],
    ],
  },
  {
    title: "Trust",
    pages: ["privacy", "limits", "side-channels", "data-protection", "nist", "quality", "audit"],
  },
  { title: "Figures", pages: ["accuracy", "performance"] },
  { title: "Look up", pages: ["errors", "glossary", "versions"] },
  {
    title: "Proofs",
    long: true,
    pages: [
      ...["privacy-values", "privacy-events", "intervals", "noise", "noisy-max", "local", "snapshots"],
      ...["cluster-proof", "paper", "departures"],
    ],
  },
];
