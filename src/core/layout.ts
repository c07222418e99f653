/**
 * Numbers that TypeScript and AssemblyScript must agree on: where the kernels find their parameters, and limits.
 * Both compilers read this file, so it holds plain integers and nothing else.
 */

// A place in a keystream, in bytes: ChaCha20 state (64), position (an f64), padding (8), buffer.
export const RANDOM_POSITION = 64;
export const RANDOM_BUFFER = 80;

// A scale, in words of 32 bits (tables/scale.ts says what they mean).
export const SCALE_DRAWS = 0;
export const SCALE_ESCAPE = 1;
export const SCALE_DIVISOR = 2;
export const SCALE_ESCAPE_STEP = 4;
export const SCALE_SHIFTS = 6;
export const SCALE_COLUMNS = 12;
/** Columns of a scale's first digit, and of any other. */
export const TOP_COLUMNS = 512;
export const COLUMNS = 256;
/** Words of a column's threshold after its head. */
export const TAIL_WORDS = 5;

// The law of a digit of noise, in bytes (tables/digit.ts): three numbers of 256 bits.
export const LAW_RATIO = 0;
export const LAW_FIRST = 32;
export const LAW_NEGATIVE = 64;
export const LAW_BYTES = 96;

// A selection, in bytes (tables/selection.ts): four f64, two coins of 8 words, a scale.
export const SELECTION_COUNT_WEIGHT = 0;
export const SELECTION_PENALTY_FACTOR = 8;
export const SELECTION_PENALTY_UNIT = 16;
export const SELECTION_STRIDE = 24;
export const SELECTION_STRIDE_COIN = 32;
export const SELECTION_SIDE_COIN = 64;
export const SELECTION_SCALE = 96;
/** Chunks of candidates whose best cost is this many strides above the lowest are not worth sorting values for. */
export const HOPELESS_STRIDES = 32;
/** Beyond this level, with odds of 2^−1024, nothing is gained by telling chunks of candidates apart. */
export const MAX_LEVEL = 1024;

// Held-out values (assembly/heldOut.ts): how many purposes they serve, and the one whose values are summed as well.
export const HELD_OUT_PURPOSES = 5;
export const HELD_OUT_MEAN = 3;

// A local mechanism, in words of 32 bits (tables/sectors.ts).
export const MECHANISM_TOP = 0;
export const MECHANISM_WIDTH = 1;
export const MECHANISM_CELLS = 2;
export const MECHANISM_SLACK = 3;
export const MECHANISM_FIRSTS = 8;
export const MECHANISM_FACTORS = 16;
export const MECHANISM_WEIGHTS = 24;
export const MECHANISM_NUMBER = 56;
export const MECHANISM_WORDS = 64;

// Limits.
/** Leaves of the largest tree: 2²⁴, 128 MiB of noise. */
export const MAX_LEAVES = 16777216;
/** Leaves of a day of noise: 2²⁰, ten a second for 25 hours. */
export const MAX_DAY_LEAVES = 1048576;
/** Leaves of a day that are drawn from one sub-stream. */
export const DAY_RUN = 64;
/** Candidates for θ: 2²⁰. */
export const MAX_CANDIDATES = 1048576;
/** Held-out values: 2²⁷, twelve bytes each, in less than 2 GiB of WASM memory. */
export const MAX_HOLDOUT = 134217728;
/** Noise scales lie between 2⁻³² and 2⁴⁰. */
export const MIN_SCALE_BITS = 32;
export const MAX_SCALE_BITS = 40;
/** Noise beyond this many scales has odds below e⁻¹⁰⁰: sums leave room for that much. */
export const NOISE_MARGIN = 100;

// A scan of text (assembly/text.ts): zero bytes after the text; where the answer stands, in bytes; how deep objects may lie.
export const TEXT_PADDING = 16;
export const TEXT_NEXT = 0;
export const TEXT_LINES = 4;
export const TEXT_DEPTH = 32;
/** Bytes of a pattern of NDJSON: 16, and 12 per value of a line. */
export const TEXT_PATTERN = 784;
