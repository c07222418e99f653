import { COMMIT, VERSION } from "./builtFrom.js";
import { NOISE_VERSION } from "./random.js";

/** Names the software behind a statement, so that an auditor can get the same sources. */
export interface Software {
  readonly name: "brume";
  readonly version: string;
  /** Commit of the sources; null if the build was not made from a clean checkout. */
  readonly commit: string | null;
  /** Which noise follows from a key: numbers can be recomputed only by software with the same one. */
  readonly noiseVersion: number;
}

export const software: Software = {
  name: "brume",
  version: VERSION,
  commit: COMMIT,
  noiseVersion: NOISE_VERSION,
};

/** The software in words, as the last line of a statement for people. */
export const softwareText = ({ name, version, commit, noiseVersion }: Software): string =>
  `Made by ${name} ${version}${commit === null ? "" : ` (commit ${commit.slice(0, 12)})`}, noise version ${noiseVersion}.`;
