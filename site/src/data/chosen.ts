/** Which stream a page shows: the example, or the visitor's own. */
import type { Source } from "../workers/protocol.js";
import { EXAMPLE_LENGTH, EXAMPLE_NAME, exampleMeaning, type Meaning } from "./meaning.js";
import type { StoredStream } from "./stored.js";

export interface Data {
  /** Id of the visitor's file in this browser; "" for the example. */
  readonly id: string;
  readonly name: string;
  readonly source: Source;
  readonly total: number;
  readonly meaning: Meaning;
}

export const exampleData = (seed: string): Data => ({
  id: "",
  name: EXAMPLE_NAME,
  source: { kind: "example", seed },
  total: EXAMPLE_LENGTH,
  meaning: exampleMeaning,
});

export const ownData = ({ id, name, values, meaning }: StoredStream): Data => ({
  id,
  name,
  source: { kind: "values", values },
  total: values.length,
  meaning,
});
