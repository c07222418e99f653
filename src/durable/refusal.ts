/** An error that a person can act on, and trying again cannot help. Its message holds public parameters only, so it may be shown. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
