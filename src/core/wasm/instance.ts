/** The WASM instances that all streams of a realm share, one per module, and the arenas in their memories that hold what a call reads and writes. */
import { demangle } from "@assemblyscript/loader";
import { dataSource, noiseSource } from "./source.js";

type TypedArray = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float64Array;

/** Exports of both modules. Pointers are byte offsets given out by an {@link Arena}. */
export interface Kernels {
  readonly memory: WebAssembly.Memory;
  heapBase(): number;
  randomBytes(): number;
}

/** The exports of assembly/noise.ts. */
export interface NoiseKernels extends Kernels {
  makeConsistent(nodes: number, leaves: number, fanout: number, excess: number): void;
  growDay(
    leafRandom: number,
    nodeRandom: number,
    scale: number,
    leaves: number,
    inner: number,
    fanouts: number,
    weights: number,
    nodes: number,
    shares: number,
  ): void;
  makeDayConsistent(
    leaves: number,
    inner: number,
    fanouts: number,
    weights: number,
    nodes: number,
    shares: number,
  ): void;
  chachaFill(input: number, counter: number, groups: number, out: number): void;
  digitBytes(): number;
  fillDigit(
    law: number,
    outcomes: number,
    columnBits: number,
    scratch: number,
    columns: number,
    tails: number,
  ): void;
  fillGeometric(random: number, scale: number, count: number, out: number): void;
  fillLaplace(random: number, scale: number, count: number, out: number): void;
}

/** The exports of assembly/data.ts. */
export interface DataKernels extends Kernels {
  blockSums(
    values: number,
    count: number,
    theta: number,
    resolution: number,
    n: number,
    filled: number,
    partial: number,
    sums: number,
  ): number;
  countAbove(values: number, count: number, limit: number): number;
  estimateLeaves(
    sums: number,
    noise: number,
    corrections: number,
    fanout: number,
    group: number,
    count: number,
    out: number,
  ): void;
  publishBlocks(shares: number, lasts: number, n: number, missing: number, count: number, out: number): void;
  fillReports(
    random: number,
    mechanism: number,
    values: number,
    count: number,
    scale: number,
    shift: number,
    out: number,
  ): void;
  emSteps(
    n: number,
    k: number,
    level: number,
    starts: number,
    taps: number,
    backStarts: number,
    backTaps: number,
    counts: number,
    smooth: boolean,
    steps: number,
    estimates: number,
    predicted: number,
    work: number,
  ): void;
  chunksBytes(candidates: number, chunkBits: number, m: number): number;
  noisyMax(
    random: number,
    parameters: number,
    laplace: number,
    candidates: number,
    chunkBits: number,
    bins: number,
    m: number,
    wide: number,
    scratch: number,
  ): number;
  countHeldOut(
    values: number,
    count: number,
    max: number,
    resolution: number,
    step: number,
    candidates: number,
    candidateCount: number,
    bins: number,
    binCount: number,
    purposes: number,
    first: number,
    counters: number,
  ): void;
  scanLines(text: number, end: number, out: number, room: number, result: number): number;
  scanCsv(
    text: number,
    end: number,
    delimiter: number,
    column: number,
    fields: number,
    out: number,
    room: number,
    result: number,
  ): number;
  scanJson(
    text: number,
    end: number,
    path: number,
    names: number,
    pattern: number,
    out: number,
    room: number,
    result: number,
  ): number;
}

let noise: NoiseKernels | undefined;
let data: DataKernels | undefined;

/** Compiles the kernels that make noise on first use. Throws where the platform forbids it (a strict CSP, some edge runtimes). */
export const loadNoiseKernels = (): NoiseKernels => (noise ??= instantiate(noiseSource()));

/** Compiles the kernels that read data on first use. Throws where the platform forbids it. */
export const loadDataKernels = (): DataKernels => (data ??= instantiate(dataSource()));

// `instantiateSync` would bring imports, strings and collected objects, which no kernel has: 4 KB of a bundle.
const instantiate = <K extends Kernels>(module: WebAssembly.Module): K =>
  demangle<K & Record<string, unknown>>(new WebAssembly.Instance(module).exports);

/** The arenas of all calls with secrets, one per module: one call ends before the next begins. */
const arenas = new Map<Kernels, Arena>();
let inUse = false;

/**
 * Runs a call with an arena and then overwrites all that the call took of the shared memory, also if it throws: values,
 * sums, noise, keys and keystream must not stay where the next call, or a reader of the memory, finds them.
 */
export function useArena<T>(kernels: Kernels, run: (arena: Arena) => T): T {
  if (inUse)
    throw new Error("arena: a kernel was called inside the call of another, whose data it would wipe");
  let arena = arenas.get(kernels);
  if (arena === undefined) arenas.set(kernels, (arena = new Arena(kernels)));
  if (arena.isUsed) arena.wipe(); // a call whose end found the stack full could not
  inUse = true;
  try {
    return run(arena);
  } finally {
    try {
      arena.wipe();
    } finally {
      inUse = false;
    }
  }
}

/**
 * Hands out places in WASM memory for the length of one call: copy in, run, copy out. No caller ever holds a
 * view of WASM memory, because growing it detaches views, and because the next call is another stream's.
 */
export class Arena {
  readonly #memory: WebAssembly.Memory;
  readonly #start: number;
  #next: number;
  // Views of all memory: one for each copy would be more garbage than most copies are bytes.
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);
  #doubles = new Float64Array(0);

  constructor(kernels: Kernels) {
    this.#memory = kernels.memory;
    this.#start = kernels.heapBase();
    this.#next = this.#start + 15;
  }

  /** Makes the views at first, and again where the memory has grown: the old ones have no bytes left. */
  #look(): void {
    if (this.#bytes.length > 0) return;
    const { buffer } = this.#memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /**
   * Room for `bytes`, aligned for SIMD. What stood there before is still there: kernels write before they read.
   * The megabyte that the memory begins with (asconfig.json) is enough at the defaults: growing detaches a buffer, and
   * from then on V8 looks at the buffer of every typed array in the process with each access.
   */
  take(bytes: number): number {
    const start = this.#next & ~15;
    const next = start + bytes + 15;
    const missing = next - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / 65536));
    this.#next = next;
    return start;
  }

  /** Room for a copy of `array`, filled. */
  put(array: TypedArray): number {
    const start = this.take(array.byteLength);
    this.write(start, array);
    return start;
  }

  /** @param start aligned as the array's numbers are */
  write(start: number, array: TypedArray): void {
    this.#look();
    if (array instanceof Float64Array) this.#doubles.set(array, start / 8);
    else if (array instanceof Uint32Array) this.#words.set(array, start / 4);
    else this.#bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start);
  }

  writeDouble(start: number, number: number): void {
    this.#look();
    this.#doubles[start / 8] = number;
  }

  readDouble(start: number): number {
    this.#look();
    return this.#doubles[start / 8]!;
  }

  /** Whether a call has left data here. */
  get isUsed(): boolean {
    return this.#next > this.#start + 15;
  }

  /** Overwrites everything that was taken, and takes it back. */
  wipe(): void {
    this.#look();
    this.#bytes.fill(0, this.#start, this.#next);
    this.#next = this.#start + 15;
  }

  /** A copy of `count` numbers from `start` on. Engines do not write zeros first into what is made from an array. */
  copy(start: number, count: number): Float64Array<ArrayBuffer> {
    return new Float64Array(new Float64Array(this.#memory.buffer, start, count));
  }

  /** Copies memory from `start` on into `array`. */
  read(start: number, array: TypedArray): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    bytes.set(new Uint8Array(this.#memory.buffer, start, array.byteLength));
  }
}
