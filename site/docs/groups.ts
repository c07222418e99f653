/** The pages of docs/ in the order of a reader: what is used comes first, then how to run it, then why to believe it. */

export interface Group {
  readonly title: string;
  /** Names of files in docs/, without ".md". */
  readonly pages: readonly string[];
}

export const GROUPS: readonly Group[] = [
  { title: "Start", pages: ["start", "which-function", "choose-epsilon", "recipes", "read-an-answer"] },
  {
    title: "Use",
    pages: ["events", "people-and-keys", "restarts", "budget", "devices", "command-line", "value-hub"],
  },
  {
    title: "Run",
    pages: [
      ...["service", "service-http", "import", "operate", "integrations", "device-protocol"],
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
    pages: [
      ...[
        "privacy-values",
        "privacy-events",
        "intervals",
        "noise",
        "noisy-max",
        "lazy-scan",
        "local",
        "local-paper",
      ],
      ...["snapshots", "cluster-proof", "paper", "departures"],
    ],
  },
];

/** Words that people search for and that lead to one page, as in the index of a book. */
export const SEARCHED: Readonly<Record<string, string>> = {
  start: "quickstart getting started install first number",
  "which-function": "which function counter histogram when not to use alternatives",
  "choose-epsilon": "choose epsilon ε privacy budget how much privacy odds",
  recipes: "examples tasks recipes",
  "people-and-keys": "unique visitors DAU WAU MAU active users distinct people per person keys",
  events: "p95 p50 p99 percentile percentiles median quantile mean sum count",
  restarts: "restart restarts crash kill backup backups restore rolled back store rekey",
  budget: "odometer composition several releases year",
  devices: "local model browser page load ToPL",
  "command-line": "CSV NDJSON file command line CLI",
  import: "import log past history Parquet",
  "data-protection": "GDPR DSGVO DPO data protection officer anonymous personal data retention",
  errors: "error message exception in-doubt",
  limits: "limits attacks threat model",
};
