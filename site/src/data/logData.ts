/** Which events the lab shows: the example, or those of the visitor's file. */
import type { LogSource } from "../workers/protocol.js";
import { CALL_LOG } from "./callLog.js";

export interface LogData {
  /** Id of the visitor's file; "" for the example. */
  readonly id: string;
  readonly name: string;
  readonly source: LogSource;
  /** Whether events have people and values. */
  readonly people: boolean;
  readonly values: boolean;
  /** Plural noun for events, and the unit of their values. */
  readonly events: string;
  readonly unit: string;
}

export const exampleLog: LogData = {
  id: "",
  name: CALL_LOG.name,
  source: { kind: "example" },
  people: true,
  values: true,
  events: "calls",
  unit: "minutes",
};
