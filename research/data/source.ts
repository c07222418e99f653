/** A data set as the figures use it: built in, or made from the numbers of a real file. */
import { createHash } from "node:crypto";
import { characteristics, type Characteristics, type DatasetName, TABLE1 } from "./datasets.js";
import { generate, GENERATOR_VERSION } from "./generate.js";

export interface Dataset {
  readonly name: DatasetName;
  /** Names the very values, for stored runs. */
  readonly id: string;
  /** Name of the file it was read from; none: built in. */
  readonly origin?: string;
  /** B. */
  readonly max: number;
  readonly values: Float64Array;
  readonly characteristics: Characteristics;
}

export function builtIn(name: DatasetName): Dataset {
  return dataset(name, `${name}, built in ${GENERATOR_VERSION}`, generate(name));
}

/**
 * @param origin name of the file
 * @param numbers as read: basket sizes, queries, or for Fare the dollars of the taxi records if they are a CSV
 */
export function fromNumbers(
  name: DatasetName,
  origin: string,
  numbers: Float64Array,
  dollars = false,
): Dataset {
  const { max } = TABLE1[name];
  const values = numbers.map((value) =>
    Math.min(max, Math.max(0, Math.round(dollars ? 100 * value : value))),
  );
  const digest = createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex");
  return { ...dataset(name, `${name}, ${digest.slice(0, 16)}`, values), origin };
}

function dataset(name: DatasetName, id: string, values: Float64Array): Dataset {
  const { max } = TABLE1[name];
  return { name, id, max, values, characteristics: characteristics(values, max) };
}

/** For titles: "POS", or "POS (pos.txt)" where a file was given. */
export const labelOf = ({ name, origin }: Dataset): string =>
  origin === undefined ? name : `${name} (${origin})`;
