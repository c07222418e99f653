/** Brume: differentially private data streams. The public names. */
export { chooseCore, type CoreChoice } from "./core/choose.js";
