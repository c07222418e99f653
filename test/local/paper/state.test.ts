import { expect, test } from "vitest";
import { hybrid } from "../../../src/local/mechanisms.js";
import { roundedFrom } from "../../../src/local/moments.js";
import { decodeLocalState, encodeLocalState } from "../../../src/local/paper/state.js";
import { possibleSums } from "../../../src/local/paper/sums.js";
import { TALLY_BYTES } from "../../../src/local/paper/tally.js";

test("what an aggregator keeps of single reports comes back, the first and the last of them too", () => {
  const tally = Uint8Array.from({ length: TALLY_BYTES }, (_, i) => i % 251);
  const cells = Uint32Array.of(7, 0, 2 ** 32 - 1, 9);
  const bytes = encodeLocalState({ tally, length: 12, cells });
  const padded = new Uint8Array(bytes.length + 3);
  padded.set(bytes, 3); // at an odd place of a larger buffer, as decrypted bytes may be
  const again = decodeLocalState(padded.subarray(3));
  expect(again.cells).toEqual(cells);
  expect(again.length).toBe(12);
  expect(again.tally).toEqual(tally);
});

test("sums that no reports can have are refused: each bound at its end, and one beyond it", () => {
  const mechanism = hybrid(2); // reports of both kinds: cells of the window, and single bits
  const rounded = roundedFrom(mechanism);
  expect(rounded).toBeGreaterThan(1);
  const most = 4n * BigInt(rounded - 1);
  const fair = { reports: 10, windowed: 4, cells: most, ones: 6 };
  expect(possibleSums(fair, mechanism)).toBe(true);
  for (const change of [{ windowed: 11 }, { ones: 7 }, { cells: most + 1n }, { reports: 9 }])
    expect(possibleSums({ ...fair, ...change }, mechanism)).toBe(false);
});
