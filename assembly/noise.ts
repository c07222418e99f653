/**
 * The kernels that make noise, which event streams need and no others: the exports of noise.wasm. Pointers come from the arena
 * in src/core/wasm/instance.ts.
 */
export { heapBase } from "./heapBase";
export { chachaFill } from "./chacha";
export { randomBytes } from "./reader";
export { digitBytes, fillDigit } from "./digit";
export { fillGeometric, fillLaplace } from "./laplace";
export { makeConsistent } from "./consistency";
export { growDay, makeDayConsistent } from "./day";
