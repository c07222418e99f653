/** Coin tosses alone, on both cores: the selection of θ calls them one by one, deep inside a kernel. */
import { readFileSync } from "node:fs";
import { instantiateSync } from "@assemblyscript/loader";
import { initialState } from "../../src/core/js/chacha.js";
import { WordReader } from "../../src/core/js/reader.js";
import { RANDOM_POSITION } from "../../src/core/layout.js";
import { checkPosition, type Random } from "../../src/core/random.js";
import type { Coin } from "../../src/core/tables/coin.js";

export interface TossKernel {
  readonly name: "wasm" | "js";
  /** 1 with the coin's probability, else 0. */
  toss(random: Random, coin: Coin, out: Uint8Array): void;
}

export const jsToss: TossKernel = {
  name: "js",
  toss(random, coin, out) {
    const reader = new WordReader(random);
    for (let i = 0; i < out.length; i++) out[i] = reader.flip(coin) ? 1 : 0;
    reader.finish();
  },
};

/** A kernel that does nothing but toss, compiled with the reader of assembly/. */
const SOURCE = `
import { beginRandom, endRandom, flip, randomBytes } from "./reader";
export { randomBytes };
export function base(): usize { return __heap_base; }
export function fillTosses(random: usize, coin: usize, count: i32, out: usize): void {
  beginRandom(random);
  for (let i = 0; i < count; i++) store<u8>(out + i, <u8>flip(coin));
  endRandom();
}
`;
const ENTRY = "assembly/tosses.ts";

/** The part of the compiler's interface that is used here. Its own types would declare AssemblyScript's globals for the whole project. */
interface Compiler {
  main(
    args: readonly string[],
    files: {
      readFile(name: string): string | null;
      writeFile(name: string, contents: unknown): void;
      listFiles(): string[];
    },
  ): Promise<{ readonly error: Error | null }>;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  randomBytes(): number;
  base(): number;
  fillTosses(random: number, coin: number, count: number, out: number): void;
}

async function compile(): Promise<Exports> {
  const name: string = "assemblyscript/asc";
  const { default: asc } = (await import(name)) as { default: Compiler };
  let wasm: Uint8Array | undefined;
  const options = ["--runtime", "stub", "--enable", "simd", "--use", "abort=", "--initialMemory", "40"];
  const { error } = await asc.main([ENTRY, "--outFile", "tosses.wasm", "-O3", ...options], {
    readFile: (name) => {
      if (name === ENTRY) return SOURCE;
      try {
        return readFileSync(name, "utf8");
      } catch {
        return null;
      }
    },
    writeFile: (name, contents) => {
      if (name === "tosses.wasm") wasm = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error !== null || wasm === undefined)
    throw new Error("tosses.wasm: could not be compiled", { cause: error });
  return instantiateSync(wasm).exports as unknown as Exports;
}

export async function wasmToss(): Promise<TossKernel> {
  const kernels = await compile();
  return {
    name: "wasm",
    toss(random, coin, out) {
      checkPosition(random.position);
      const block = (kernels.base() + 15) & ~15;
      const coinAt = block + ((kernels.randomBytes() + 15) & ~15);
      const outAt = coinAt + 32;
      const { buffer } = kernels.memory;
      new Uint8Array(buffer, block, 64).set(new Uint8Array(initialState(random).buffer));
      const position = new Float64Array(buffer, block + RANDOM_POSITION, 1);
      position[0] = random.position;
      new Uint32Array(buffer, coinAt, 8).set(coin.words);
      kernels.fillTosses(block, coinAt, out.length, outAt);
      checkPosition(position[0]);
      random.position = position[0];
      out.set(new Uint8Array(buffer, outAt, out.length));
    },
  };
}
