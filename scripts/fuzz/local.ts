/** The paper's two phases of ToPL, devices and their server: random calls, each on both cores. */
import {
  type PaperAggregator,
  aggregator,
  type PaperVariant,
  type Reporter,
  reporter,
} from "../../src/index.js";
import { outcome, same, twice, type Two } from "./compare.js";
import type { Dice } from "./dice.js";
import type { Tally } from "./tally.js";

/** EM takes milliseconds, a thousand times a usual call: one episode in so many learns θ and then releases. */
const LEARNS_ONE_IN = 24;

/** Devices and servers of one aggregation. */
interface Setting {
  readonly epsilon: number;
  readonly max: number;
  readonly unsafeSeed: string;
  readonly servers: Two<PaperAggregator>;
  devices: Two<Reporter>;
  /** Once learned. */
  theta: number | undefined;
}

/** Makes exactly `calls` calls and compares each. */
export async function driveLocal(dice: Dice, calls: number, tally: Tally): Promise<void> {
  const learns = dice.below(LEARNS_ONE_IN) === 0;
  const holdout = learns ? 20 + dice.below(400) : 2 ** 20;
  const setting = randomSetting(dice, holdout);
  for (let left = calls; left > 0;) {
    const ready = setting.theta === undefined && setting.servers[0].learned === holdout;
    left -= ready ? await learn(setting, left, tally) : callOnce(dice, setting, left, tally);
  }
}

function randomSetting(dice: Dice, holdout: number): Setting {
  const epsilon = dice.pick([1, 0.3, dice.scaled(0.01, 8)]);
  const max = dice.pick([1, 500, dice.scaled(0.01, 1e6), dice.pick([1e-250, 1e250])]);
  const unsafeSeed = String(dice.word());
  const options: PaperVariant = {
    ...{ variant: "paper" as const, epsilon, max, holdout },
    maxRange: Math.ceil(dice.scaled(1, 2 ** 20)),
    tuning: {
      estimator: dice.pick(["em", "ems"]),
      tail: dice.pick(["models", "paper", "whole"]),
      objective: dice.pick(["exact", "paper"]),
    },
    history: 1 + dice.below(2000),
  };
  return {
    ...{ epsilon, max, unsafeSeed, theta: undefined },
    servers: twice((core) => aggregator({ ...options, core })),
    devices: twice((core) => reporter({ variant: "paper", epsilon, max, phase: "learn", unsafeSeed, core })),
  };
}

/** The distribution in every bit, then θ, then devices that release. */
async function learn(setting: Setting, left: number, tally: Tally): Promise<number> {
  const { epsilon, max, unsafeSeed, servers } = setting;
  compare("distribution", await servers[0].distribution(), await servers[1].distribution(), tally);
  compare("quantile", await servers[0].quantile(0.9), await servers[1].quantile(0.9), tally);
  if (left === 1) return 1;
  const [theta, other] = [await servers[0].threshold(), await servers[1].threshold()];
  compare("threshold", theta, other, tally);
  setting.theta = theta;
  setting.devices = twice((core) =>
    reporter({ variant: "paper", epsilon, max, phase: "release", threshold: theta, unsafeSeed, core }),
  );
  return 2;
}

/** @returns calls made: a batch of reports is one, and its way into the servers another */
function callOnce(dice: Dice, setting: Setting, left: number, tally: Tally): number {
  const { servers, devices, max, theta } = setting;
  const each = (name: string, call: (server: PaperAggregator, device: Reporter) => unknown) => {
    const [a, b] = [0, 1].map((i) => outcome(() => call(servers[i]!, devices[i]!)));
    return compare(name, a, b, tally);
  };
  const roll = dice.unit();
  if (roll < 0.2) {
    const value = dice.pick([dice.unit() * max, dice.unit() * max, 2 * max, -1, -0, 1e308, NaN]);
    each("report", (_, device) => device.report(value));
    return 1;
  }
  if (roll < 0.3 && theta !== undefined) {
    const [a, b] = [dice.below(servers[0].length + 2), dice.below(servers[0].length + 2)];
    each("local range", (server) => {
      return server.range(Math.min(a, b), Math.max(a, b), { confidence: 0.9 });
    });
    return 1;
  }
  if (roll < 0.32) {
    each("tally", (server) => server.tally());
    return 1;
  }
  if (roll < 0.35) {
    each("local statement", (server) => ({ ...server.statement(), core: "" }));
    return 1;
  }
  const values = Float64Array.from({ length: dice.scaled(1, 100) }, () => (dice.unit() * 1.4 - 0.2) * max);
  const reports = each("reportMany", (_, device) => device.reportMany(values)) as Uint8Array;
  if (left === 1) return 1;
  if (dice.chance(0.2)) reports[dice.below(reports.length)]! ^= 1 << dice.below(8); // a damaged one among them
  each("take reports", (server) => [
    theta === undefined ? server.learn(reports) : server.release(reports),
    server.rejected,
  ]);
  return 2;
}

function compare(name: string, a: unknown, b: unknown, tally: Tally): unknown {
  tally.add(name);
  if (!same(a, b)) throw new Error(`${name} differs`);
  return a;
}
