/** What the page says about the built-in stream of src/cli/example.ts. */

/** What the page needs to know about a stream besides its values; all public. */
export interface Meaning {
  /** Of one value, as "queries/s"; a mean has it too. */
  readonly unit: string;
  /** Of a sum of values, as "queries". */
  readonly sumUnit: string;
  /** Seconds between values, where they come at a steady pace. */
  readonly pace: number | undefined;
}

export const exampleMeaning: Meaning = { unit: "queries/s", sumUnit: "queries", pace: 1 };
