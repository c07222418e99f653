/** Reports by days: window reports, θ from day to day, tallies that merge. Random calls, each on both cores. */
import { type Aggregator, aggregator, type Reporter, reporter } from "../../src/index.js";
import { outcome, same, twice, type Two } from "./compare.js";
import type { Dice } from "./dice.js";
import type { Tally } from "./tally.js";

const DAY = 86_400_000;
/** EM takes milliseconds, a thousand times a usual call: θ follows the reports in one episode of so many. */
const FOLLOWS_ONE_IN = 16;

interface Setting {
  readonly epsilon: number;
  readonly max: number;
  readonly unsafeSeed: string;
  readonly follow: boolean;
  readonly make: (core: "wasm" | "js") => Aggregator;
  readonly time: { now: number };
  servers: Two<Aggregator>;
  devices: Two<Reporter>;
}

/** Makes exactly `calls` calls and compares each. */
export async function driveDays(dice: Dice, calls: number, tally: Tally): Promise<void> {
  const setting = randomSetting(dice);
  for (let left = calls; left > 0; left--) await callOnce(dice, setting, tally);
}

function randomSetting(dice: Dice): Setting {
  const follow = dice.below(FOLLOWS_ONE_IN) === 0;
  const epsilon = dice.pick([1, 4, dice.scaled(0.01, 16)]);
  const max = dice.pick([1, 500, dice.scaled(0.01, 1e6), dice.pick([1e-250, 1e250])]);
  const unsafeSeed = String(dice.word());
  const threshold = dice.pick([max, max / 2, max * 0.75, max * 2 ** -9]);
  const time = { now: 1.8e12 + dice.below(DAY) };
  const zone = dice.pick(["UTC", "Europe/Berlin", "Pacific/Apia"]);
  const make = (core: "wasm" | "js"): Aggregator =>
    aggregator({ epsilon, max, threshold, follow, zone, clock: () => time.now, core });
  return {
    ...{ epsilon, max, unsafeSeed, follow, make, time },
    servers: twice(make),
    devices: twice((core) => reporter({ epsilon, max, threshold, unsafeSeed, core })),
  };
}

async function callOnce(dice: Dice, setting: Setting, tally: Tally): Promise<void> {
  const { servers, devices, max, time, follow } = setting;
  const each = (name: string, call: (server: Aggregator, device: Reporter) => unknown): unknown => {
    const [a, b] = [0, 1].map((i) => outcome(() => call(servers[i]!, devices[i]!)));
    return compare(name, a, b, tally);
  };
  const roll = dice.unit();
  if (roll < 0.15) {
    const value = dice.pick([dice.unit() * max, dice.unit() * max, 2 * max, -1, -0, 1e308, NaN]);
    each("window report", (_, device) => device.report(value));
  } else if (roll < 0.25) {
    time.now += dice.pick([DAY, DAY, DAY / 5, 3 * DAY, -DAY / 10]); // clocks are set back, too
    const [one, other] = [await servers[0].terms(), await servers[1].terms()];
    compare("terms", one, other, tally);
    if (one.chosen) tally.add("θ of a day chosen");
    if (dice.chance(0.8)) renew(setting, one.threshold);
  } else if (roll < 0.4) {
    const [from, to] = [time.now - dice.below(4) * DAY, time.now + dice.pick([0, 0, DAY, -DAY])];
    each("days", (server) => [
      server.between(from, to, { confidence: 0.9 }),
      server.series("1d", from, Math.max(from, to)),
      server.last("2d"),
    ]);
  } else if (roll < 0.45) each("window tally", (server) => [server.tally(), server.rejected]);
  else if (roll < 0.5) {
    const others = twice(setting.make);
    others.forEach((other, i) => other.merge(servers[1 - i]!.tally())); // each core reads what the other one wrote
    compare("merge days", others[0].tally(), others[1].tally(), tally);
    if (dice.chance(0.5)) setting.servers = others;
  } else if (roll < 0.55) each("days statement", (server) => ({ ...server.statement(), core: "" }));
  else if (roll < 0.65 && follow) {
    const p = 0.01 + 0.98 * dice.unit();
    const ask = async (server: Aggregator) => [
      await server.quantile(p),
      await server.cdf(max / 3),
      await server.histogram(),
    ];
    compare("days distribution", await ask(servers[0]), await ask(servers[1]), tally);
  } else take(dice, setting, each);
}

function take(
  dice: Dice,
  { max, time }: Setting,
  each: (name: string, call: (server: Aggregator, device: Reporter) => unknown) => unknown,
): void {
  const values = Float64Array.from({ length: dice.scaled(1, 100) }, () => (dice.unit() * 1.4 - 0.2) * max);
  const damage = dice.chance(0.2) ? [dice.unit(), 1 << dice.below(8)] : undefined;
  const at = dice.pick([time.now, time.now, time.now, time.now - DAY, time.now + DAY, NaN]);
  each("add reports", (server, device) => {
    const reports = device.reportMany(values);
    if (damage !== undefined) reports[Math.floor(damage[0]! * reports.length)]! ^= damage[1]!;
    return [reports, server.add(reports, at), server.rejected];
  });
}

function renew(setting: Setting, threshold: number): void {
  const { epsilon, max, unsafeSeed } = setting;
  setting.devices = twice((core) => reporter({ epsilon, max, threshold, unsafeSeed, core }));
}

function compare(name: string, a: unknown, b: unknown, tally: Tally): unknown {
  tally.add(name);
  if (!same(a, b)) throw new Error(`${name} differs`);
  return a;
}
