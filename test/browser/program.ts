/**
 * A user's program, for any platform: takes the module and returns plain data.
 * Runs in plain pages and workers, in an app built by Vite, and in Node for comparison.
 */
export function program(brume: typeof import("../../src/index.js")) {
  const publisher = brume.privateStream({
    epsilon: 1,
    max: 4095,
    holdout: 512,
    maxRange: 4096,
    unsafeSeed: "anywhere",
  });
  const values = Array.from({ length: 3000 }, (_, i) => (i * i * 7) % 1009);
  const published = Array.from(publisher.pushMany(values));
  const { core, threshold } = publisher.statement();
  return { core: core.name, threshold, published, sum: publisher.range(100, 2000).sum };
}
