/** Answers from the tallies of all partitions, in any process: nothing in them is secret. */
import type { Aggregator } from "brume";

import type { ConnectOptions } from "../kafka/connections.js";
import { kafkaPort } from "../kafka/kafkaPort.js";
import type { Port } from "../port.js";
import type { LocalOptions } from "./options.js";
import { mergedReports, readTerms } from "./threshold.js";

/** All reports that are committed, in one aggregator: `between`, `last`, `series`, `quantile`, `histogram`, `statement`. */
export async function readLocal(options: LocalOptions & ConnectOptions): Promise<Aggregator> {
  const port = kafkaPort(options);
  return readLocalFrom(port, options).finally(() => port.close());
}

/** Reads on any port. */
export async function readLocalFrom(port: Port, options: LocalOptions): Promise<Aggregator> {
  return mergedReports(port, options, await readTerms(port, options));
}
