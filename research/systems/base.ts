/** The base line: zeros, whatever comes. Reads nothing, so it is private at ε = 0; also what θ = 0 leaves of a stream. */
import { checkFinite } from "../../src/core/checks.js";
import { NO_SPREAD } from "../../src/stream/answer/variance.js";
import type { Publisher } from "../../src/stream/publisher.js";

export class Zeros implements Publisher {
  readonly oldest = 0;
  readonly resolution = 1;
  length = 0;

  push(): number {
    this.length++;
    return 0;
  }

  pushMany(values: Float64Array): Float64Array {
    this.length += checkFinite(values).length;
    return new Float64Array(values.length);
  }

  answer() {
    return { sum: 0, spread: NO_SPREAD };
  }
}
