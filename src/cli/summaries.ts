/** One line about each command: `brume --help` prints them and loads no command. */
export const SUMMARIES = {
  release:
    "Publishes a stream under event-level ε-differential privacy: one number per value after the hold-out.",
  query: "Asks a release of events that brume release --every --state has made; costs no privacy.",
  plan: "Tells error and memory of a release from its parameters alone.",
  explain: "Says in words what the statement of a release promises (written by brume release --statement).",
  statement: "Turns the statement of a release into a record for the public registry of deployments.",
  verify:
    "Checks a statement against itself, and against the release, the state or the store that it is about.",
  demo: "Runs ToPS and ToPL on a built-in example (queries per second at a name server, twelve days), beside the truth.",
  serve:
    "Runs the service: events in over HTTP, private numbers and a dashboard out (needs the package brume-server).",
  kafka: "Runs streams on a Kafka cluster (needs the package brume-kafka).",
  completion: "Prints a script that completes commands and options in bash, zsh or fish.",
  evaluate:
    "Measures the error of random range queries on data you know, for ToPS and the systems it is compared with.",
  audit: "Attacks a mechanism by running it on neighbouring inputs, and bounds its ε from below.",
  ldp: "Simulates ToPL: every value belongs to a device that perturbs it before it leaves.",
  paper: "Measures the figures of the paper and writes them as JSON, CSV and SVG, with one report.",
} as const;
