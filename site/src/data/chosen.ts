/** Which stream a page shows: the example, or the visitor's own. */
import type { Source } from "../workers/protocol.js";
import { EXAMPLE_LENGTH, EXAMPLE_NAME, exampleMeaning, type Meaning } from "./meaning.js";
import type { StoredStream } from "./stored.js";

export interface Data {
  readonly name: string;
  readonly source: Source;
  readonly total: number;
  readonly meaning: Meaning;
}

export const exampleData = (seed: string): Data => ({
  name: EXAMPLE_NAME,
  source: { kind: "example", seed },
  total: EXAMPLE_LENGTH,
  meaning: exampleMeaning,
});

export const ownData = ({ name, values, meaning }: StoredStream): Data => ({
  name,
  source: { kind: "values", values },
  total: values.length,
  meaning,
});
