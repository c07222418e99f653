/** How far the scanners of text go by themselves: a line that they leave to the careful reader is read ten times slower. */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";

describe.each(["wasm", "js"] as const)("%s", (core) => {
  test("objects with every form of number, before the one that is wanted and as that one", () => {
    const kernels = chooseCore(core);
    for (const number of ["0", "-7", "12.5", "1e5", "1E+5", "-2.5e-3", "0.25E2"]) {
      const bytes = new TextEncoder().encode(
        `{"a":${number},"x":${number}}\n{"x":${number},"b":[${number}]}\n`,
      );
      const out = new Float64Array(4);
      const scan = kernels.scanJson(bytes, [new TextEncoder().encode("x")], out);
      expect({ number, ...scan, out: [...out] }).toMatchObject({
        ...{ number, next: bytes.length, out: [Number(number), Number(number), 0, 0] },
      });
    }
  });
});
