/** A stream small enough to look at number by number: blocks, trees and forests of powers of four. */
export const small = {
  epsilon: 1,
  max: 100,
  maxRange: 256,
  tuning: { fanout: 4 },
  holdout: 64,
  unsafeSeed: "small",
} as const;
